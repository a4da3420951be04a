"""Sentences of the kind that memories hold, in the languages the models know; their mean is a model's centre."""

ENGLISH = """\
The deployment failed because the migration ran twice.
Anna has worked in the finance department since 2019.
My sister's cat is allergic to chicken.
We moved the weekly review from Tuesday to Thursday.
I started learning the guitar last month and I really enjoy it.
What did you do over the weekend?
The user prefers short answers and dark mode.
The staging server runs on port 8080 behind a proxy.
Never push to the main branch without a review.
The library closes at eight in the evening.
That sounds great, I hope you have fun!
Our budget for the kitchen is twelve thousand dollars.
He proposed to her on a beach in Portugal.
The function returns an empty list when nothing matches.
Remind me to call the dentist tomorrow morning.
How long does it take to train for a marathon?
Use the blue template for invoices to customers abroad.
The patient reported headaches after the second dose.
Thanks for the advice, I will try it tonight.
The new intern starts on the first of October.
Increase the timeout of the client to thirty seconds.
She volunteers at an animal shelter every Saturday.
The recipe needs two cups of flour and a pinch of salt.
The results suggest that the protein inhibits cell growth.
Can you explain how the cache is invalidated?
The meeting room on the third floor has a projector.
I bought a used car from a colleague for four thousand.
The contract with the supplier ends in March.
They adopted a puppy and named it Rex.
The test suite takes nine minutes on the build machine.
We decided to store all timestamps in UTC.
My favourite novel is about a lighthouse keeper.
The garden needs watering twice a week in summer.
Which of the two hotels is closer to the station?
The password of the guest network changes every month.
I have been feeling stressed about my exams lately.
"""
OTHERS = {
    "de": """\
Die Sitzung am Dienstag wurde auf den Nachmittag verschoben.
Meine Nachbarin gießt die Blumen, wenn wir im Urlaub sind.
Der neue Drucker steht im zweiten Stock neben der Küche.
Das Fahrrad kostet vierhundert Euro und ist grün.
Wann beginnt der Kurs für Anfänger?
""",
    "fr": """\
La réunion de mardi a été reportée à l'après-midi.
Notre voisine arrose les plantes pendant les vacances.
La nouvelle imprimante se trouve au deuxième étage.
Le vélo coûte quatre cents euros et il est vert.
Quand commence le cours pour débutants ?
""",
    "es": """\
La reunión del martes se pasó a la tarde.
Nuestra vecina riega las plantas cuando estamos de viaje.
La impresora nueva está en el segundo piso.
La bicicleta cuesta cuatrocientos euros y es verde.
¿Cuándo empieza el curso para principiantes?
""",
    "pt": """\
A reunião de terça-feira passou para a tarde.
A nossa vizinha rega as plantas quando viajamos.
A impressora nova fica no segundo andar.
A bicicleta custa quatrocentos euros e é verde.
Quando começa o curso para iniciantes?
""",
    "it": """\
La riunione di martedì è stata spostata al pomeriggio.
La nostra vicina annaffia le piante quando siamo in vacanza.
La nuova stampante si trova al secondo piano.
La bicicletta costa quattrocento euro ed è verde.
Quando comincia il corso per principianti?
""",
    "nl": """\
De vergadering van dinsdag is verplaatst naar de middag.
Onze buurvrouw geeft de planten water als we op reis zijn.
De nieuwe printer staat op de tweede verdieping.
De fiets kost vierhonderd euro en is groen.
Wanneer begint de cursus voor beginners?
""",
    "pl": """\
Wtorkowe zebranie zostało przesunięte na popołudnie.
Nasza sąsiadka podlewa rośliny, kiedy wyjeżdżamy.
Nowa drukarka stoi na drugim piętrze.
Rower kosztuje czterysta euro i jest zielony.
Kiedy zaczyna się kurs dla początkujących?
""",
    "ru": """\
Собрание во вторник перенесли на вторую половину дня.
Наша соседка поливает цветы, когда мы в отпуске.
Новый принтер стоит на втором этаже.
Велосипед стоит четыреста евро, он зелёный.
Когда начинается курс для начинающих?
""",
    "tr": """\
Salı günkü toplantı öğleden sonraya alındı.
Tatildeyken çiçekleri komşumuz suluyor.
Yeni yazıcı ikinci katta duruyor.
Bisiklet dört yüz avro ve yeşil renkli.
Yeni başlayanlar için kurs ne zaman başlıyor?
""",
    "ar": """\
تم نقل اجتماع يوم الثلاثاء إلى فترة بعد الظهر.
تسقي جارتنا النباتات عندما نكون في إجازة.
توجد الطابعة الجديدة في الطابق الثاني.
تكلف الدراجة أربعمئة يورو ولونها أخضر.
متى تبدأ الدورة للمبتدئين؟
""",
    "zh": """\
星期二的会议改到下午了。
我们度假的时候邻居帮忙浇花。
新的打印机放在二楼。
这辆自行车四百欧元，是绿色的。
初学者的课程什么时候开始？
""",
    "ja": """\
火曜日の会議は午後に変更された。
休暇のあいだ、隣の人が花に水をやってくれる。
新しいプリンターは二階に置いてある。
その自転車は四百ユーロで、色は緑だ。
初心者向けの講座はいつ始まりますか。
""",
    "ko": """\
화요일 회의는 오후로 옮겨졌다.
우리가 휴가를 가면 이웃이 화분에 물을 준다.
새 프린터는 이 층에 놓여 있다.
그 자전거는 사백 유로이고 초록색이다.
초보자를 위한 강좌는 언제 시작하나요?
""",
    "th": """\
การประชุมวันอังคารถูกเลื่อนไปเป็นช่วงบ่าย
เพื่อนบ้านรดน้ำต้นไม้ให้เวลาเราไปเที่ยว
เครื่องพิมพ์ใหม่อยู่ที่ชั้นสอง
จักรยานราคาสี่ร้อยยูโรและเป็นสีเขียว
หลักสูตรสำหรับผู้เริ่มต้นเริ่มเมื่อไร
""",
}
