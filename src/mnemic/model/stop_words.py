"""Function words by language: left out of questions, and the evidence by which a text's language is detected."""

from __future__ import annotations

from functools import cache

# Forms cut at apostrophes, lower case, in NFC. English is the list the retrieval figures were measured with.
_FUNCTION_WORDS = {
    "en": """
        a about above after again all also am an and any are aren as at be because been before being below
        between both but by can cannot could couldn did didn do does doesn doing don down during each else ever
        few for from further get got had hadn has hasn have haven having he her here hers herself him himself
        his how i if in into is isn it its itself just know let like me more most my myself no nor not of off on
        once only or other our ours ourselves out over own please same she should shouldn so some such tell than
        that the their theirs them themselves then there these they this those through to too under until up us
        very was wasn we were weren what when where which while who whom whose why will with would wouldn you
        your yours yourself yourselves d ll m re s t ve
    """,
    "de": """
        ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da
        dabei dafür damit dann daran darauf das dass dein deine dem den denn der des dessen deren die dies diese
        diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch euer
        für gegen gibt hab habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in
        ins ist ja jede jedem jeden jeder jedes jene kann kannst kein keine keinem keinen keiner können könnte
        man mein meine meinem meinen meiner mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne
        sehr sein seine seinem seinen seiner seit sich sie sind so soll sollen sollte sollten sondern sowie über
        um und uns unser unsere unserem unseren unserer unter viel viele vom von vor wann war waren warum was
        weil welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieder wieso will wir
        wird wirst wo wobei woher wohin wollen worden würde würden wurde wurden zu zum zur zwischen
    """,
    "fr": """
        à ai ainsi alors après as au aucun aucune aussi autre autres aux avaient avait avant avec avez avoir
        avons c car ce ceci cela celle celles celui ces cet cette ceux chaque chez comme comment d dans de
        depuis des donc dont du elle elles en encore entre es est et étaient était été être eu eux faut il ils j
        je jusqu l la là le les leur leurs lors lorsque lui m ma mais me même mes moi mon n ne ni non nos notre
        nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu quand que quel quelle quelles
        quels qui quoi s sa sans se sera ses si soit son sont sous sur t ta te tes toi ton tous tout toute
        toutes très tu un une va vers vos votre vous y
    """,
    "es": """
        a adónde al algo algún alguna algunas alguno algunos ante antes así aún aunque bajo cada como cómo con
        contra cuál cuáles cual cuales cuándo cuando cuánta cuántas cuánto cuántos cuanto de debe del desde
        dónde donde durante e el él ella ellas ellos en entre era eran eres es esa esas ese eso esos está están
        estas este esta esto estos fue fueron ha había han hasta hay he la las le les lo los más me mi mis mucho
        muy nada ni ningún ninguna no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros
        para pero poco por porque pues que qué quién quiénes quien se sea según ser será si sí sin sobre sois
        somos son soy su sus también tan tanto te tengo tiene tienen todo todos tu tú tus un una unas uno unos
        usted ustedes y ya yo
    """,
    "pt": """
        a à ainda algo algum alguma algumas alguns ao aos aquela aquele aquilo as às até cada com como contra
        cujo da das de dela dele deles depois desde deve do dos durante e é ela elas ele eles em entre era eram
        essa essas esse esses esta está estão estas estava este estes eu foi foram há isso isto já lhe lhes mais
        mas me mesmo meu meus minha minhas muito na nas não nem nenhum nenhuma no nos nós nossa nosso num numa o
        onde os ou outra outras outro outros para pela pelas pelo pelos por porque porquê pode qual quais quando
        quanta quantas quanto quantos que quem se sem ser será seu seus só sob sobre somos sou sua suas são
        também te tem têm tenho teu toda todas todo todos tu tua um uma umas uns você vocês vos
    """,
    "it": """
        a abbiamo ad agli ai al alcuni alcune alla alle allo altra altre altri altro anche ancora avere aveva
        avevano c che chi ci ciò come con contro cosa così cui d da dagli dai dal dalla dalle dallo degli dei
        del dell della delle dello di dopo dove dov e è ed era erano essere fino fra fu furono gli ha hai hanno
        ho i il in io l la le lei li lo loro lui ma me mentre mi mia mie miei mio molto ne negli nei nel nell
        nella nelle nello nessun nessuno no noi non nostra nostro o ogni oppure per perché però più poi prima
        può qual quale quali quando quanta quante quanti quanto quella quelle quelli quello questa queste questi
        questo qui s se sei senza si sia siamo siete sono sta stata stati stato su sua sue sugli sui sul sulla
        sulle suo suoi tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno vi voi
    """,
    "nl": """
        aan achter al alle alleen als andere ben bij elk elke ieder iedere binnen daar dan dat de deze die dit
        doen door dus een en er eens geen geweest had hadden haar heb hebben heeft hem het hier hij hoe hoeveel
        hun ik in is ja je jij jullie kan kon kunnen maar me meer men met mij mijn moet moeten na naar niet
        niets nog nu of om omdat ons onze ook op over sinds te tegen ten ter terwijl toch toen tot tussen u uit
        uw van vanaf veel voor waar waarom wanneer want waren was wat we weer welk welke werd werden wie wij
        word worden wordt zal ze zeer zich zij zijn zo zonder zou zouden
    """,
    "sv": """
        alla allt än är att av blev bli blir då de dem den denna deras dess dessa det detta dig din ditt du där
        efter ej eller en er ett från för ha hade han hans har hennes hon honom hur här i icke inga ingen inom
        inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om
        oss på samma sedan sig sin sina sitt ska skulle som så sådan till under upp ut utan vad var vara varför
        varje vart vem vi vid vilka vilken vilket
    """,
    "da": """
        af alle alt at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter
        eller en end er et for fordi fra få før ham han hans har havde have hende hendes her hos hun hvad hvem
        hver hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind ingen intet jeg jer jo kan kunne man
        mange med meget men mellem mig min mine mit mod ned nogen noget nogle nu når og også om op os over på
        sig sin sine skal skulle som sådan til ud uden under var vi vil ville være været
    """,
    "no": """
        alle at av ble bli blir både da de deg dem den denne der dere deres det dette din disse du eller en enn
        er et ett etter for fordi fra før ha hadde han hans har hennes her hun hva hvem hver hvilken hvilket
        hvis hvor hvordan hvorfor når i ikke ingen inn jeg kan kunne man mange med meg meget mellom men mer min
        mine mitt mot noe noen nå og også om opp oss over på seg selv sin sine skal skulle slik som så til ut
        uten var vi vil ville være vært
    """,
    "fi": """
        ei eivät eli emme en ennen että hän häntä he heidän hänen ja jo joka jonka jos josta jota jotka joten
        kaikki kanssa koska koskaan ketkä kenen keneltä kuin kuka kun kuten me mihin mikä mikään milloin minä
        minkä minun missä mistä mitä miten miksi mukaan mutta myös ne niin niitä nämä nyt oli olivat olla olen
        olet on ovat paljonko se sekä sen siellä siinä sinä sitä tai tämä tämän te vaan vai vain voi
    """,
    "pl": """
        a aby ale albo bardzo bez bo być by był była było były ci co czy dla do dlaczego gdy gdzie go i ich ile
        im ja jak jaka jaki jakie jako je jego jej jest jestem już każdy kiedy kim kogo komu która które którego
        której który którzy którym kto lub ma mają mi między mnie może można mój my na nad nam nas nasz nasza
        nasze nic nie niego nim niż o od on ona oni ono oraz po pod podczas poza przed przez przy się skąd są
        swój ta tak także tam te tego tej ten to też tu tylko tym u w we więc z za ze że żeby
    """,
    "cs": """
        a aby ale ani asi az bez být bude budou by byl byla byli bylo co či do ho i já jak jaká jaké jako jaký
        je jeho její jejich jen ještě ji jiné již jsem jsi jsme jsou k každý kde kdo kdy když kolik která které
        kteří který ku má mají mé mě mezi mi mít můj může my na nad nám nás náš ne nebo není než nic o od on ona
        oni ono po pod podle pouze proč pro protože před přes při s se si svůj ta tak také tam tato tě ten tento
        to tohoto tom tu ty u už v vám vás váš ve více však vy z za zda ze že
    """,
    "ro": """
        a acea aceasta această aceea acel acest aceste acești ai aici al ale am ar are aș asta așa ați au avea
        ca că câți câte cât când care cărei căror ce cea cel cele cei cine cu cum da dacă dar de deci decât deși
        despre din doar după ea ei el ele era eram este eu face fi fie fără fost iar în îl îi îmi între la le li
        lor lui mai mea mei meu mi ne nici nimic noastră nostru nu o ori pe pentru peste poate până prin sa să
        sau se și sunt te toate toți tot un una unde unei unui unor va vor vă voi
    """,
    "hu": """
        a abban ahhoz ahogy akar akik aki akkor alatt ami amit amely az azok azon azt azért be belül benne csak
        de e egy egyes egyik ehhez el előtt én és ez ezek ezen ezt fel fog ha hanem hát hogy hogyan hol hová
        honnan hány i így ilyen is itt ki kik kell kivel le lehet lesz lett maga már meg mely melyik mennyi mert
        mi miért mikor mit mind minden más mint még nagyon ne nekem nem nincs olyan ott ők össze őt pedig sem se
        si szerint számára t te után úgy van vagy vannak való volt voltak
    """,
    "tr": """
        acaba ama ancak bana bazı belki ben beni benim bir biri biz bize bizim bu buna bunda bundan bunu bunun
        burada çok çünkü da daha de defa değil diye dolayı en fakat gibi göre hangi hem hep hepsi her hiç için
        ile ise kaç kadar ki kim kime kimi kimin mı mi mu mü nasıl ne neden nedir nerede nereye niçin niye o
        olan olarak oldu olduğu on ona onu onun orada oysa öyle pek sen seni senin siz sizin şey şimdi şu tüm
        var ve veya ya yani yok
    """,
    "id": """
        ada adalah akan anda apa apakah atau bagaimana bahwa banyak belum berapa bisa bukan dalam dan dapat dari
        dengan di dia hanya harus ini itu juga kami kamu kapan karena ke kepada kita lagi lebih mana mengapa
        mereka oleh pada para saat saja sangat saya sebagai sebuah secara sedang seperti serta setiap siapa
        sudah supaya tapi telah tetapi tidak untuk yang
    """,
    "vi": """
        ai anh bao bằng bị bởi các cái cho chỉ chưa có của cùng cũng đã đang đây đâu để đến đi đó được gì giữa
        hay hơn họ không khi là làm lại lúc mà mấy mỗi một mọi nào này nên nếu nhiều như nhưng những ở qua ra
        rằng rất rồi sao sau sẽ tại theo thì tôi trên trong trước từ và vào vẫn về vì với
    """,
    "ru": """
        а без более больше будет будут бы был была были было в вам вас вдруг ведь во вот все всё всего всех вы
        где говорит да даже для до его ее её ей ему если есть еще ещё же за зачем и из или им их к каждый как
        какая какие какой каком какую когда кого кому которая которого которой которые который которых кто куда
        ли либо мне много можно мой моя мы на над надо нам нас наш наша наше не него нее неё ней нельзя нет ни
        них но ну о об один он она они оно от откуда перед по под после потом потому почему при про раз с сам
        себя сейчас со свой своих сколько так также такой там тебя тем теперь то тогда того тоже только том тот
        ты у уже хотя чего чей чем через что чтоб чтобы чьё эта эти это этого этой этом этот эту я
    """,
    "uk": """
        а але аби або без би був була були було в вам вас весь ви від він вона вони воно все всі всіх де для до
        його ж за зі з і із її їх й як яка які який якого якої якщо є же коли кого кому кожен котрий куди лише
        ми можна мій на над нам нас наш наша не немає ні нічого но о об один по під після при про разом с свій
        своїх себе скільки так також там те ти тільки то тому тоді той треба у уже хто це цей ця ці чи через
        чому що щоб щодо я
    """,
    "bg": """
        а ако ами бе без беше би бил била били било вас ви вие във всеки всички все всичко в го да дали до
        докато е един една едно за защо и или им има й как каква какво какъв кога кого когато коя които което
        която който кой към къде колко ли ме между ми много може му на над нас нашия не него нещо ни ние никой
        но няма о обаче от отново по под поради после при през пред с са само се си след сме според със съм също
        така такъв там тази те тези ти то това тогава този той тя у че чрез ще я
    """,
    "el": """
        αλλά αν από αυτά αυτές αυτή αυτό αυτοί αυτός αυτών για γιατί δεν εάν είμαι είμαστε είναι είχε ένα έναν
        ένας εγώ εκεί εμείς έχει έχουν ή η ήταν θα και κάθε καθώς κατά κι μα με μέσα μετά μέχρι μη μην μια μία
        μου να ο οι όμως όπου όπως όταν ότι όχι πάνω παρά ποια ποιο ποιοι ποιος ποιον πολύ πόσα πόσο ποτέ πότε
        που πού πριν προς πως πώς σας σε στα στη στην στις στο στον στους στων συ τα τη την της τι τις το τον
        του τους των ως
    """,
    "ar": """
        أ أن إن أنا أنت إلى أو أي أية أين إذا إذ ألا التي الذي الذين اللذان أكثر أما ان انا او اي اين بل بين بعد
        بعض تحت تكون تلك ثم جدا جميع حتى حول حيث خلال دون ذلك سوف ضد عليه عليها على عن عند عندما غير فإن في فيه
        فيها فقط فوق قبل قد كان كانت كذلك كل كم كما كيف كيفية لا لأن لدى لدي لقد لك لكن لم لماذا لن له لها لهم
        لو ليس ليست ما ماذا متى مثل مع من منذ منه منها مما نحن نعم هذا هذه هؤلاء هل هم هن هنا هناك هو هي و وقد
        يكون يا
    """,
    "fa": """
        آن آنها آیا از اگر اما این اینها با باید بر برای بسیار به بود بودند بوده تا تو چرا چه چند چگونه چون چیست
        خود در دارد دارند دیگر را روی شد شده شما شود کجا کدام کرد کرده کند که کی کیست ما من می نیز نیست هر هم
        همه هیچ و ولی یا یک است هست هستند
    """,
    "hi": """
        अपना अपनी अपने अब आप इन इस इसका इसकी इसके इसे इसने उन उनका उनकी उनके उन्हें उस उसका उसकी उसके उसने उसे
        एक और कब कहाँ कहां कर करता करती करते करना करने का काफ़ी कि कितना कितनी कितने किन किस किसका किसकी किसके
        किसने किसे की कुछ के केवल कैसा कैसी कैसे को कोई कौन कौनसा क्या क्यों गई गए गया चाहिए जब जहाँ जाता जाती
        जाते जिस जिसे जो तक तब तो था थी थे द्वारा न नहीं ना ने पर फिर बहुत भी मगर मुझे में मेरा मेरी मेरे मैं
        यदि यह यहाँ या ये रहा रही रहे लिए लेकिन वह वहाँ वाला वाली वाले वे सकता सकती सकते सब से हम हमारा हमारी
        हमारे ही हुआ हुई हुए हूँ है हैं हो होता होती होते होना
    """,
    # Grammar and question words of scripts written without spaces; a text is compared by its pairs of characters.
    "zh": """
        什么 怎么 哪里 哪个 哪些 哪儿 为什么 多少 几点 谁的 是谁 由谁 是什么 可以 我们 你们 他们 这个 那个
        是不是 有没有 會不會 会不会
    """,
    "ja": """
        です ですか でした でしょう ます ますか ました ません ましょう である であり だった いつ どこ だれ 誰か
        誰が 誰は 誰で どの どれ どう どんな なに なぜ 何で 何が 何を ください という について している していま
        あります ありますか います いますか この その あの こと もの から まで
    """,
    "ko": """
        누가 누구 누구를 언제 어디 어디에 어디서 어느 무엇 무엇을 왜 어떻게 어떤 얼마 얼마나 하나요 했나요
        인가요 나요 습니까 입니까 합니까 입니다 합니다 습니다
    """,
}

_NEGATIONS = {
    "en": """
        no not never none nobody nothing nowhere neither nor cannot without hardly t ain aren can couldn didn
        doesn don hadn hasn haven isn mustn needn shouldn wasn weren won wouldn
    """,
    "de": """
        nicht kein keine keinem keinen keiner keines nie niemals nichts niemand niemanden niemandem nirgends
        nirgendwo ohne weder
    """,
    "fr": "ne n pas non jamais rien aucun aucune personne nulle ni sans guère",
    "es": "no nunca jamás nada nadie ningún ninguna ninguno ninguna ni sin tampoco",
    "pt": "não nunca jamais nada ninguém nenhum nenhuma nem sem tampouco",
    "it": "non no mai nulla niente nessun nessuna nessuno né senza neanche nemmeno neppure",
    "nl": "niet geen nooit niets niemand nergens noch zonder",
    "sv": "inte icke ej aldrig ingen inget inga ingenting utan",
    "da": "ikke aldrig ingen intet ingenting uden",
    "no": "ikke aldri ingen intet ingenting uten",
    "fi": "ei en et emme ette eivät älä koskaan mikään kukaan ilman",
    "pl": "nie nigdy nic nikt nikogo żaden żadna żadne ani bez",
    "cs": "ne není nejsou nikdy nic nikdo žádný žádná žádné ani bez nemá",
    "ro": "nu niciodată nimic nimeni niciun nicio nici fără",
    "hu": "nem ne nincs nincsenek soha semmi senki sem nélkül",
    "tr": "değil yok hiç hiçbir asla ne hayır",
    "id": "tidak tak bukan belum jangan tanpa tiada",
    "vi": "không chưa chẳng chả đừng",
    "ru": "не нет ни никогда никто никого ничего ничто нигде нельзя без никакой никакая никакие",
    "uk": "не ні немає нема ніколи ніхто нікого нічого ніде без жоден жодна",
    "bg": "не няма никога никой нищо нито без никъде",
    "el": "δεν μη μην όχι ποτέ τίποτα κανείς κανένας καμία χωρίς ούτε",
    "ar": "لا ليس ليست لم لن ما غير بدون بلا أبدا لست",
    "fa": "نه نیست هیچ هرگز بدون نمی نباید نشده",
    "hi": "नहीं न ना मत कभी बिना नही",
    # Of scripts without spaces these are found inside a text, not between spaces.
    "zh": "不 没 未 无 非 别 勿 沒 無 別",
    "ja": "ない ません なかった なく ぬ ず 不 未 無",
    "ko": "않 안 못 없 아니 말",
}


@cache
def function_words() -> dict[str, frozenset[str]]:
    """The function words of every language that has some, by its ISO 639-1 code."""
    return {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words of *language* (ISO 639-1) that tell nothing about the subject of a question; empty if it is not known."""
    return frozenset(_FUNCTION_WORDS.get(language, "").split())


@cache
def negations(language: str) -> frozenset[str]:
    """Words that negate a statement in *language* (ISO 639-1); of zh, ja and ko stretches inside a text."""
    return frozenset(_NEGATIONS.get(language, "").split())
