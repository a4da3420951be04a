"""What a memory says of one is not said of another: owners, sources, conditions, plans and what was left out."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core.trust.comparison import Entailment
from mnemic.core.trust.judgement import judge, propositions
from mnemic.core.trust.verify import verify

# A memory, what it does not say though it has all its words, and what it says.
SAID = (
    ("We use pnpm, not npm, in this repository.", [], ["We use pnpm in this repository", "We use pnpm"]),
    (
        "We use tabs, not spaces, in this project.",
        ["We use spaces"],
        ["We use tabs in this project", "We use tabs"],
    ),
    (
        "We use Postgres, not MySQL, for billing.",
        ["We use MySQL for billing"],
        ["We use Postgres for billing"],
    ),
    ("We use yarn, not pnpm, in the web folder.", [], ["We use yarn in the web folder"]),
    (
        "Anna took over the billing service from Ben in March.",
        ["Ben owns the billing service", "Ben runs the billing service"],
        ["Anna owns the billing service"],
    ),
    ("Carla took the keys from Dave.", ["Dave has the keys"], ["Carla has the keys"]),
    ("Mia inherited the parser from Tom.", ["Tom owns the parser"], ["Mia owns the parser"]),
    ("Mia bought the domain from Tom.", ["Tom owns the domain"], ["Mia owns the domain"]),
    (
        "Ownership of the gateway moved from Lena to Omar.",
        ["Lena owns the gateway"],
        ["Omar owns the gateway"],
    ),
    ("Anna spoke to the team about Ben.", ["Ben spoke to the team"], ["Anna spoke about Ben"]),
    ("Anna works for Ben in the Oslo office.", ["Ben works for Anna", "Ben works in the Oslo office"], []),
    ("Anna voted against Ben as team lead.", ["Ben voted against Anna", "Ben voted"], []),
    (
        "We chose Redis instead of Memcached for the cache.",
        ["We chose Memcached for the cache", "We use Memcached for the cache"],
        ["We chose Redis for the cache"],
    ),
    ("We chose Redis rather than Memcached.", ["We chose Memcached"], ["We chose Redis"]),
    ("The tests run without Docker.", ["The tests run with Docker", "The tests run in Docker"], []),
    (
        "The parser was rewritten by Mia after Tom left.",
        ["Tom rewrote the parser", "Mia left"],
        ["Mia rewrote the parser"],
    ),
    (
        "Mia reviewed the patch that Tom wrote.",
        ["Tom reviewed the patch", "Mia wrote the patch"],
        ["Tom wrote the patch"],
    ),
    (
        "Before Lena joined, Omar ran the gateway.",
        ["Lena runs the gateway", "Lena ran the gateway"],
        ["Omar ran the gateway"],
    ),
    (
        "The invoice service calls the tax service, which is written in Go.",
        ["The invoice service is written in Go", "The tax service calls the invoice service"],
        ["The tax service is written in Go"],
    ),
    ("Fjordline, unlike Montclair, pays by card.", ["Montclair pays by card"], ["Fjordline pays by card"]),
    ("Apart from Carla, everyone works remotely.", ["Carla works remotely"], []),
    (
        "Only Carla may deploy to production.",
        ["Dave may deploy to production"],
        ["Carla may deploy to production"],
    ),
    (
        "The old API key was revoked and a new one was issued.",
        ["The new API key was revoked"],
        ["The old API key was revoked", "The API key was revoked"],
    ),
    (
        "If the build fails, the release is stopped.",
        ["The build fails", "The release is stopped", "The build failed"],
        [],
    ),
    ("Petra will move to Lisbon next year.", ["Petra lives in Lisbon", "Petra moved to Lisbon"], []),
    (
        "Tom wants to migrate the database to PostgreSQL.",
        ["Tom migrated the database to PostgreSQL", "The database runs on PostgreSQL"],
        [],
    ),
    (
        "The team considered GraphQL but stayed with REST.",
        ["The team uses GraphQL", "The team moved to GraphQL"],
        [],
    ),
    (
        "The load test failed on staging but passed on production.",
        ["The load test passed on staging", "The load test failed on production"],
        ["The load test failed on staging"],
    ),
    (
        "Customers from Norway pay in euros.",
        ["Norway pays in euros", "Customers from Sweden pay in euros"],
        [],
    ),
    (
        "The backup of the billing database is stored in Falkenstein.",
        ["The billing database is stored in Falkenstein"],
        [],
    ),
    ("Anna's manager lives in Rome.", ["Anna lives in Rome"], ["Anna's manager lives in Rome"]),
    (
        "The contract with Nedlog was signed by Odd's deputy.",
        ["Odd signed the contract with Nedlog", "Nedlog's deputy signed the contract"],
        [],
    ),
    (
        "Memory usage fell from 900 MB to 400 MB.",
        ["Memory usage is 900 MB", "Memory usage rose to 400 MB"],
        ["Memory usage is 400 MB"],
    ),
    ("The cache is not cleared on deploy any more.", ["The cache is cleared on deploy"], []),
    ("Nobody but Ulrike has the root token.", ["Odd has the root token"], ["Ulrike has the root token"]),
    (
        "Anna deploys the API and Ben deploys the web app.",
        ["Ben deploys the API"],
        ["Ben deploys the web app"],
    ),
    (
        "The API uses Redis for caching and Kafka for events.",
        ["The API uses Kafka for caching"],
        ["The API uses Redis for caching"],
    ),
    ("Mia likes tea, Tom likes coffee.", ["Tom likes tea"], ["Tom likes coffee"]),
    (
        "The Oslo office has 12 desks and the Rome office has 30.",
        ["The Oslo office has 30 desks"],
        ["The Oslo office has 12 desks"],
    ),
    (
        "Version 2 added SSO; version 3 removed LDAP.",
        ["Version 3 added SSO", "Version 2 removed LDAP"],
        ["Version 2 added SSO"],
    ),
    (
        "Staging was upgraded on Monday, production on Thursday.",
        ["Production was upgraded on Monday"],
        ["Production was upgraded on Thursday"],
    ),
    (
        "Sunniva owns the catalogue service and reviews the search service.",
        ["Sunniva owns the search service"],
        ["Sunniva reviews the search service"],
    ),
    ("Users who pay yearly get a discount.", ["All users get a discount"], []),
    ("Some endpoints require a token.", ["All endpoints require a token"], []),
    ("The team can deploy on Fridays.", ["The team deploys on Fridays"], ["The team may deploy on Fridays"]),
    (
        "It is planned to move the office to Turin.",
        ["The office moved to Turin", "The office is in Turin"],
        [],
    ),
    ("Lena asked Omar to review the patch.", ["Omar reviewed the patch", "Lena reviewed the patch"], []),
    ("Lena promised to fix the bug.", ["Lena fixed the bug"], []),
    ("Omar forgot to rotate the key.", ["Omar rotated the key"], []),
    ("Omar refused to sign the contract.", ["Omar signed the contract"], []),
    ("The migration almost broke production.", ["The migration broke production"], []),
    ("Tom says the API is slow.", ["The API is slow"], []),
    ("It is unclear whether the backup works.", ["The backup works"], []),
    ("The docs say that retries are enabled, but they are not.", ["Retries are enabled"], []),
    ("Dana is the sister of Eric.", ["Eric is the sister of Dana"], ["Dana is Eric's sister"]),
    (
        "Acme acquired Beta in 2021.",
        ["Beta acquired Acme", "Acme was acquired by Beta"],
        ["Beta was acquired by Acme"],
    ),
    ("The frontend depends on the gateway.", ["The gateway depends on the frontend"], []),
    ("Redis is faster than Postgres for this.", ["Postgres is faster than Redis"], []),
    ("Anna stopped using Vim and switched to Helix.", ["Anna uses Vim"], []),
    (
        "The test suite takes 6 minutes on CI and 2 minutes locally.",
        ["The test suite takes 2 minutes on CI"],
        ["The test suite takes 2 minutes locally"],
    ),
    (
        "Only the nightly job writes to the archive.",
        ["The API writes to the archive"],
        ["The nightly job writes to the archive"],
    ),
    ("Ben might take over the billing service.", ["Ben took over the billing service"], []),
    ("We deploy on Fridays unless there is a freeze.", ["We deploy on Fridays during a freeze"], []),
    (
        "Petra's laptop was stolen in Rome.",
        ["Petra was stolen in Rome", "The laptop was stolen in Lisbon"],
        [],
    ),
    (
        "Der Vertrag mit Nedlog wurde von Odds Stellvertreter unterschrieben.",
        ["Odd hat den Vertrag unterschrieben"],
        [],
    ),
    (
        "Anna hat den Dienst von Ben übernommen.",
        ["Ben besitzt den Dienst", "Ben hat den Dienst von Anna übernommen"],
        [],
    ),
    ("Wir verwenden Redis statt Memcached.", ["Wir verwenden Memcached"], ["Wir verwenden Redis"]),
    (
        "Wenn der Build fehlschlägt, wird das Release gestoppt.",
        ["Der Build schlägt fehl", "Das Release wird gestoppt"],
        [],
    ),
    ("Nous utilisons pnpm et non npm.", ["Nous utilisons npm"], ["Nous utilisons pnpm"]),
    ("Usamos Redis en lugar de Memcached.", [], []),
    ("Мы используем Redis вместо Memcached.", ["Мы используем Memcached"], []),
    ("私たちはnpmではなくpnpmを使う。", ["私たちはnpmを使う"], ["私たちはpnpmを使う"]),
    ("我们用pnpm而不是npm。", ["我们用npm"], ["我们用pnpm"]),
    (
        "The gateway logs to Loki and the worker logs to Elastic.",
        ["The worker logs to Loki"],
        ["The worker logs to Elastic"],
    ),
    (
        "Our CI uses GitHub Actions; our CD uses Argo.",
        ["Our CD uses GitHub Actions"],
        ["Our CI uses GitHub Actions"],
    ),
    (
        "The API returns 404 for unknown ids and 410 for deleted ones.",
        ["The API returns 410 for unknown ids"],
        ["The API returns 404 for unknown ids"],
    ),
    (
        "Three of the five nodes run Debian.",
        ["Five nodes run Debian", "All nodes run Debian"],
        ["Three nodes run Debian"],
    ),
    ("Most customers pay monthly.", ["All customers pay monthly"], []),
    ("None of the tests use the network.", ["The tests use the network", "Some tests use the network"], []),
    (
        "The contract ends in June unless it is renewed in March.",
        ["The contract is renewed in March", "The contract ends in March"],
        [],
    ),
    (
        "Lena replaced Omar as the lead of the gateway team.",
        ["Omar is the lead of the gateway team", "Omar replaced Lena"],
        ["Lena is the lead of the gateway team"],
    ),
    (
        "We moved from Heroku to Fly in May.",
        ["We use Heroku", "We moved from Fly to Heroku"],
        ["We moved to Fly"],
    ),
    (
        "The cache lives in memory, the queue on disk.",
        ["The queue lives in memory"],
        ["The cache lives in memory"],
    ),
    (
        "Dana likes the dark theme but hates the light theme.",
        ["Dana likes the light theme", "Dana hates the dark theme"],
        ["Dana likes the dark theme"],
    ),
    (
        "The old server had 16 GB; the new server has 64 GB.",
        ["The old server has 64 GB", "The new server has 16 GB"],
        ["The new server has 64 GB"],
    ),
    (
        "Tickets are answered by Lisbon in the morning and by Bergen in the afternoon.",
        ["Bergen answers tickets in the morning"],
        ["Lisbon answers tickets in the morning"],
    ),
    (
        "Backups are kept for 30 days, logs for 90.",
        ["Logs are kept for 30 days", "Backups are kept for 90 days"],
        ["Backups are kept for 30 days"],
    ),
    (
        "Adele introduced Carmen to Odd.",
        ["Carmen introduced Adele to Odd", "Odd introduced Carmen to Adele"],
        [],
    ),
    ("The report was sent to Anna by Ben.", ["Anna sent the report to Ben"], ["Ben sent the report to Anna"]),
    ("Eric is taller than Dana.", ["Dana is taller than Eric"], []),
    ("We should rotate the keys every month.", ["We rotate the keys every month"], []),
    ("Nobody has tested the restore.", ["The restore was tested"], []),
    ("It is not true that the API is public.", ["The API is public"], []),
    (
        "The feature was rolled back on 3 May because of errors.",
        ["The feature was rolled out on 3 May"],
        ["The feature was rolled back on 3 May"],
    ),
    (
        "Alice and Bob share an office; Carol works from home.",
        ["Alice works from home"],
        ["Carol works from home"],
    ),
    ("The parser does not support YAML, only JSON.", ["The parser supports YAML"], []),
    ("Until 2024 we hosted in Dublin.", ["We host in Dublin"], []),
    ("We used to deploy with Capistrano.", ["We deploy with Capistrano"], []),
    ("Deploys need two approvals, hotfixes one.", [], ["Deploys need two approvals"]),
    (
        "The admin page is only reachable from the VPN.",
        ["The admin page is reachable from the internet"],
        ["The admin page is reachable from the VPN"],
    ),
    ("Marta rejected the proposal by Igor.", ["Igor rejected the proposal", "Marta made the proposal"], []),
    (
        "The bug in the exporter was found by the nightly test.",
        ["The exporter found the bug"],
        ["The nightly test found the bug in the exporter"],
    ),
    (
        "Our provider for mail is Postmark, for SMS it is Twilio.",
        ["Our provider for SMS is Postmark"],
        ["Our provider for mail is Postmark"],
    ),
    (
        "Python 3.11 is the oldest version we support.",
        ["Python 3.11 is the newest version we support", "We support Python 3.10"],
        [],
    ),
    ("The service restarts when memory exceeds 2 GB.", ["Memory exceeds 2 GB"], []),
    (
        "Der Server in Bergen wird von Lena betreut, der in Oslo von Omar.",
        ["Omar betreut den Server in Bergen"],
        ["Lena betreut den Server in Bergen"],
    ),
    (
        "Le contrat avec Nedlog expire en juin, celui avec Kemp en mai.",
        ["Le contrat avec Kemp expire en juin"],
        ["Le contrat avec Nedlog expire en juin"],
    ),
    ("El informe lo escribe Marta y lo revisa Igor.", [], []),
    ("Анна заменила Бориса в команде платежей.", ["Борис заменил Анну в команде платежей"], []),
    ("请求由网关处理，而不是由工作进程处理。", ["请求由工作进程处理"], []),
    ("レポートは田中さんが書き、鈴木さんが確認する。", ["鈴木さんがレポートを書く"], []),
)


@pytest.mark.only_on("sqlite")  # a verdict follows from the texts, which both engines give alike
@pytest.mark.parametrize("memory, not_said, said", SAID)
def test_a_claim_is_verified_of_its_own_subject_only(ctx, memory, not_said, said):
    kept(ctx, memory)
    assert [claim for claim in not_said if verify(ctx, claim).status == "verified"] == []
    assert [claim for claim in said if verify(ctx, claim).status != "verified"] == []


@pytest.mark.only_on("sqlite")
def test_a_verdict_says_that_the_same_words_are_said_of_something_else(ctx):
    kept(ctx, "The parser was rewritten by Mia after Tom left.")
    verdict = verify(ctx, "Tom rewrote the parser")
    assert verdict.status == "partial" and verdict.because
    assert verdict.because.startswith("memory 1 has these words, but does not say this of the same")


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    "memory, claim",
    [
        ("We chose Redis instead of Memcached for the cache.", "We chose Memcached for the cache"),
        ("Fjordline, unlike Montclair, pays by card.", "Montclair pays by card"),
        ("Apart from Carla, everyone works remotely.", "Carla works remotely"),
        ("We use tabs, not spaces, in this project.", "We use spaces"),
    ],
)
def test_what_is_left_out_is_contradicted(ctx, memory, claim):
    kept(ctx, memory)
    assert verify(ctx, claim).status == "contradicted"


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    "memory, claim",
    [
        ("If the build fails, the release is stopped.", "The release is stopped"),
        ("The API uses Redis for caching and Kafka for events.", "The API uses Kafka"),
        ("Anna stopped using Vim and switched to Helix.", "Anna uses Helix"),
    ],
)
def test_a_condition_or_another_fact_beside_it_contradicts_nothing(ctx, memory, claim):
    kept(ctx, memory)
    assert verify(ctx, claim).status != "contradicted"


@pytest.mark.parametrize(
    "memory, claim",
    [
        ("Nobody in the web team uses the old API.", "Nobody uses the old API."),
        ("Mia has never been to Japan in winter.", "Mia has never been to Japan."),
        ("Deployments are forbidden on Fridays after 3 pm.", "Deployments are forbidden on Fridays."),
        ("All new users have two-factor login.", "All users have two-factor login."),
        ("Admin users can export data.", "Users can export data."),
        ("The tests pass on Linux only in CI.", "The tests pass on Linux."),
        ("Paul may approve refunds up to 50 euros.", "Paul may approve refunds."),
        ("Alice manages Bob's brother.", "Alice manages Bob."),
        ("Anna is the deputy of the manager.", "Anna is the manager."),
        ("The bug was reported fixed by a customer.", "The bug was fixed."),
        ("Samples are stored at -80 degrees.", "Samples are stored at 80 degrees."),
        ("The response takes <200 ms.", "The response takes >200 ms."),
        ("Nina does not eat raw meat.", "Nina does not eat meat."),
        ("Contractors never get a key to the server room.", "Contractors never get a key."),
        ("Ingrid approved a part of the budget.", "Ingrid approved the budget."),
        ("The migration is half done.", "The migration is done."),
        ("Sara teaches music history.", "Sara teaches music."),
        ("Jonas worked at Siemens.", "Jonas works at Siemens."),
        ("The deadline was May 5 and was moved to June 1.", "The deadline is May 5."),
    ],
)
def test_what_is_said_of_some_is_not_verified_of_all(memory, claim):
    assert judge(propositions(claim), memory).relation is not Entailment.ENTAILS


@pytest.mark.parametrize(
    "memory, claim",
    [
        ("Deployments run on Fridays after lunch.", "Deployments run on Fridays."),
        ("The club house is never rented in July and August.", "The club house is never rented in August."),
        ("The new lift in the tower works again.", "The lift works again."),
        ("Samples are stored at minus 80 degrees.", "Samples are stored at -80 degrees."),
        ("Nadia takes 20 mg of atorvastatin every evening.", "Nadia takes atorvastatin every evening."),
        ("Jonas has worked at Siemens since 2019.", "Jonas works at Siemens."),
    ],
)
def test_a_part_that_says_no_more_is_verified(memory, claim):
    assert judge(propositions(claim), memory).relation is Entailment.ENTAILS
