"""Which language a text is written in."""

from __future__ import annotations

import pytest

from mnemic.model.languages import SAMPLE, detect
from mnemic.model.stop_words import negations, stop_words

SENTENCES = {
    "en": [
        "The backup runs every night.",
        "Who fixed the login bug?",
        "Take care!",
        "See you on Monday, thanks.",
    ],
    "de": ["Das Backup läuft jede Nacht.", "Wer hat den Fehler behoben?", "Die Straße ist gesperrt"],
    "fr": ["La sauvegarde tourne chaque nuit.", "Qui a corrigé cette erreur ?", "L'hôtel est complet"],
    "es": ["La copia se hace cada noche.", "¿Quién corrigió el error?", "El servidor no responde"],
    "pt": ["A cópia é feita todas as noites.", "Quem corrigiu o erro?", "O servidor não responde"],
    "it": ["Il backup parte ogni notte.", "Chi ha corretto l'errore?", "La riunione è stata rinviata"],
    "nl": ["De back-up draait elke nacht.", "Wie heeft de fout hersteld?", "Het kantoor is gesloten"],
    "sv": ["Vi har flyttat servern till källaren.", "Vem är ansvarig för det?"],
    "pl": ["Serwer jest wyłączony w weekend.", "Kto odpowiada za magazyn?"],
    "tr": ["Sunucu her gece yeniden başlatılıyor.", "Bu hatayı kim düzeltti?"],
    "ru": ["Копия делается каждую ночь.", "Кто исправил ошибку?", "Сервер не отвечает"],
    "uk": ["Сервер не відповідає вже годину.", "Хто виправив помилку?"],
    "zh": ["备份每天晚上运行。", "谁修复了这个错误？", "用Docker部署支付服务"],
    "ja": ["バックアップは毎晩実行される。", "誰がバグを直しましたか。", "会議は東京で開催"],
    "ko": ["백업은 매일 밤 실행된다.", "누가 오류를 고쳤나요?"],
    "ar": ["يتم النسخ الاحتياطي كل ليلة.", "من أصلح الخطأ؟"],
    "fa": ["پشتیبان‌گیری هر شب انجام می‌شود."],
    "hi": ["बैकअप हर रात चलता है।", "गलती किसने ठीक की?"],
    "el": ["Ποιος διόρθωσε το σφάλμα;"],
    "he": ["מי תיקן את השגיאה?"],
    "th": ["ใครเป็นคนแก้ข้อผิดพลาด"],
}


@pytest.mark.parametrize(
    "language, sentence", [(language, one) for language, some in SENTENCES.items() for one in some]
)
def test_languages_of_short_sentences_are_distinguished(language, sentence):
    assert detect(sentence) == language


@pytest.mark.parametrize("text", ["", "PROJ-512", "parse_config()", "42", "🎉", "HTTPServer 8080", "…"])
def test_a_text_that_does_not_tell_is_english(text):
    assert detect(text) == "en"


def test_the_main_language_wins_over_a_quoted_name():
    assert detect("The customer 王小明 called about the invoice he never got.") == "en"
    assert detect("GitHubのプルリクエストをmainブランチにマージする") == "ja"
    assert detect("Der Pull Request ist noch nicht gemerged, weil die CI rot ist.") == "de"


def test_a_long_text_is_judged_by_its_beginning():
    assert detect("Der Server ist neu und nicht alt. " * 20 + "the of and to " * 10_000) == "de"
    assert len("Der Server ist neu und nicht alt. " * 20) > SAMPLE


def test_negations_and_stop_words_are_known_by_language():
    assert {"nicht", "kein"} <= negations("de")
    assert "не" in negations("ru")
    assert "不" in negations("zh")
    assert "ない" in negations("ja")
    assert negations("xx") == stop_words("xx") == frozenset()
    for language in ("en", "de", "fr", "es", "pt", "it", "nl", "ru", "ar", "hi"):
        assert stop_words(language)
        assert negations(language)
