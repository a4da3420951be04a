"""What a memory implies beyond its words, judged on single sentences."""

from __future__ import annotations

import pytest

from mnemic.core.trust.comparison import Entailment
from mnemic.core.trust.judgement import judge, propositions


def relation(memory: str, claim: str) -> str:
    return judge(propositions(claim), memory).relation.value


ENTAILS, CONTRADICTS = Entailment.ENTAILS.value, Entailment.CONTRADICTS.value


@pytest.mark.parametrize(
    "memory, gone, there",
    [
        ("The shop in York was closed in May.", "The shop in York no longer exists.", "The shop in York still runs."),
        ("Die Werkstatt wurde 2024 abgeschafft.", "Es gibt keine Werkstatt mehr.", "Die Werkstatt besteht noch."),
        ("Le service a été supprimé en mars.", "Le service n'existe plus.", "Le service existe encore."),
        ("Старый склад закрыли в мае.", "Старый склад больше не работает.", "Старый склад всё ещё работает."),
        ("旧平台已于三月关闭。", "旧平台不再运行。", "旧平台仍在运行。"),
    ],
)  # fmt: skip
def test_what_was_closed_is_no_longer_there(memory, gone, there):
    assert relation(memory, gone) == ENTAILS
    assert relation(memory, there) == CONTRADICTS


def test_who_closed_something_is_not_gone():
    assert relation("The board closed the office.", "The board no longer exists.") not in (
        ENTAILS,
        CONTRADICTS,
    )


def test_a_planned_end_is_no_end():
    assert (
        relation("The branch in York will be closed in May.", "The branch in York no longer exists.")
        != ENTAILS
    )


def test_who_succeeds_comes_later():
    memory = "Ada Krause succeeded Emil Roth as chair."
    assert relation(memory, "Emil Roth was chair before Ada Krause.") == ENTAILS
    assert relation(memory, "Ada Krause was chair before Emil Roth.") == CONTRADICTS


def test_not_without_something_makes_it_mandatory():
    memory = "Nobody may enter the foundry without goggles."
    assert relation(memory, "Goggles are mandatory in the foundry.") == ENTAILS
    assert relation(memory, "You may enter the foundry without goggles.") == CONTRADICTS


def test_an_exception_is_not_included_in_all():
    memory = "All printers except Gutenberg have a scanner."
    assert relation(memory, "All printers have a scanner.") == CONTRADICTS
    assert relation(memory, "Gutenberg has no scanner.") == ENTAILS


def test_a_left_out_verb_does_not_mix_the_objects():
    memory = "The archive moves to Ulm, the press office to Trier."
    assert relation(memory, "The press office moves to Ulm.") != ENTAILS
    assert relation(memory, "The archive moves to Ulm.") == ENTAILS


def test_a_word_said_twice_must_be_met_twice():
    assert (
        relation(
            "The ledger belongs to the payments team.", "The payments ledger belongs to the payments team."
        )
        != ENTAILS
    )


def test_a_broader_verb_does_not_verify():
    assert relation("The lease ended in March.", "The lease changed in March.") != ENTAILS


def test_who_does_it_is_named_by_the_verb():
    memory = "Ines Blau produces the evening show."
    assert relation(memory, "Ines Blau is the producer of the evening show.") == ENTAILS
    assert relation("Visitors are admitted to the lab.", "Children visit the lab.") != ENTAILS


def test_who_wanted_to_do_it_has_not_done_it():
    memory = "Otto wanted to cancel the order."
    assert relation(memory, "Otto cancelled the order.") != ENTAILS
    assert relation(memory, "The order was not cancelled.") != CONTRADICTS


def test_what_is_lent_is_borrowed_from_the_lender():
    assert (
        relation("The club lends skis for two weeks.", "Skis can be borrowed from the club for two weeks.")
        == ENTAILS
    )


def test_two_short_texts_are_read_in_one_language():
    assert relation("No se aceptan pagos en efectivo.", "Se aceptan pagos en efectivo.") == CONTRADICTS


@pytest.mark.parametrize(
    "memory, claim, expected",
    [
        ("Amir moved from Leeds to Porto in 2025.", "Amir lives in Porto.", ENTAILS),
        ("Amir moved from Leeds to Porto in 2025.", "Amir no longer lives in Leeds.", ENTAILS),
        ("Amir moved from Leeds to Porto in 2025.", "Amir lives in Leeds.", CONTRADICTS),
        ("Ольга переехала из Омска в Казань.", "Ольга живёт в Омске.", CONTRADICTS),
        ("The fair of 6 December was put off to 13 December.", "The fair takes place on 13 December.", ENTAILS),
        ("The fair of 6 December was put off to 13 December.", "The fair takes place on 6 December.", CONTRADICTS),
        ("We replaced Jenkins with Drone.", "Before Drone we used Jenkins.", ENTAILS),
        ("We replaced Jenkins with Drone.", "Before Jenkins we used Drone.", CONTRADICTS),
    ],
)  # fmt: skip
def test_who_moved_is_at_the_goal_and_what_replaces_comes_later(memory, claim, expected):
    assert relation(memory, claim) == expected


@pytest.mark.parametrize(
    "memory, claim, expected",
    [
        ("Queries above 500 GB are cancelled.", "Queries above 900 GB are cancelled.", ENTAILS),
        ("Max visits the gym twice a minute.", "Max visits the gym every 30 seconds.", ENTAILS),
        ("The yield was 2 MWh.", "The yield was 2,000 kWh.", ENTAILS),
        ("The yield was 410 MWh.", "The yield was 410 kWh.", CONTRADICTS),
        ("The shop is open until 8 pm.", "The shop closes at 8 pm.", ENTAILS),
        ("The shop is open until 8 pm.", "The shop closes at 9 pm.", CONTRADICTS),
        ("Technicians must report within 10 minutes.", "Technicians must report within 10 hours.", CONTRADICTS),
        ("Библиотека работает с 10 до 20 часов.", "Библиотека работает до 18 часов.", CONTRADICTS),
    ],
)  # fmt: skip
def test_bounds_periods_and_hours_are_compared_as_amounts(memory, claim, expected):
    assert relation(memory, claim) == expected


@pytest.mark.parametrize(
    "memory, claim",
    [
        ("Queries above 500 GB are cancelled.", "Queries above 300 GB are cancelled."),
        ("The outage lasted more than 3 hours.", "The outage lasted more than 5 hours."),
        ("The outage lasted more than 3 hours.", "The outage lasted 5 hours."),
        ("The shop is open until 8 pm.", "The shop opens at 8 pm."),
        ("The soup is hot.", "The soup is not cold."),
        ("Anna prefers tea to coffee.", "Anna prefers coffee to tea."),
        ("Writes are refused unless the disk is mounted.", "Writes are refused if the disk is mounted."),
        ("The report was written by Ana and is reviewed by Leo.", "Ana reviews the report."),
        ("The primary runs in Oslo and has two replicas, one in Bergen.", "The primary runs in Bergen."),
        ("Scholarships are paid on the fifth of every month.", "Scholarships are kept on the fifth of every month."),
    ],
)  # fmt: skip
def test_what_is_left_open_or_turned_round_is_not_entailed(memory, claim):
    assert relation(memory, claim) != ENTAILS


def test_an_apposition_parts_no_verb_from_its_subject():
    memory = "The dog, Bruno, gets two meals a day."
    assert relation(memory, "Bruno gets two meals a day.") == ENTAILS
    assert relation(memory, "Bruno gets three meals a day.") == CONTRADICTS
