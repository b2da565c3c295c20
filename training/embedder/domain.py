"""Words of software, chat and office work that mean something alike, and sentences made of them.

Written by hand for this model: no corpus under a permissive licence says that a sign-in is a login.
No document of evaluation.json stands here, and of its queries only two, as words of a list:
`dark mode` and `too many requests`.
"""

GROUPS = """
login; log in; sign in; signin; logon; authenticate; authentication; enter your account
logout; log out; sign out; end the session
password; passphrase; passcode; credential; credentials; secret; pin
register; sign up; signup; create an account; enrol; join
account; profile; user; member; login
username; user name; login name; handle; nickname; screen name
two-factor; 2fa; mfa; totp; authenticator; one-time code; second factor; otp; verification code
passkey; webauthn; fido; security key
token; access token; bearer; jwt; api key; credential
oauth; oauth2; oidc; openid; single sign-on; sso; saml; identity provider; federated login
permission; authorization; access right; privilege; role; scope; grant; acl; allowed
forbidden; denied; unauthorized; not allowed; permission denied; 403; 401; no access
admin; administrator; superuser; root; owner
encrypt; encryption; cipher; aes; cryptography; tls; ssl
certificate; cert; x509; pem; ca; tls certificate
https; tls; ssl; secure connection
sign; signature; signing; hmac; verify
hash; digest; checksum; sha256; md5; fingerprint
attack; exploit; breach; intrusion; hack; compromise; vulnerability; cve
leak; leaked; exposed; stolen; compromised
revoke; invalidate; withdraw; cancel; expire
rotate; renew; replace; refresh; roll over
audit; audit log; trail; record of events; history
privacy; gdpr; personal data; erasure; anonymise
invoice; bill; billing; receipt; payment; charge
pay; payment; checkout; purchase; buy; credit card; stripe; paypal
refund; reimburse; money back; chargeback
price; pricing; cost; fee; expense; rate; cheap; expensive; budget
subscription; plan; tier; seat; licence; license
unsubscribe; opt out; mute; stop receiving; turn off notifications
notification; notify; alert; push; reminder; ping
deploy; deployment; release; ship; rollout; roll out; publish; launch; go live; push to production
rollback; roll back; revert; undo; restore the previous version; back out
version; release; revision; tag; semver
upgrade; update; migrate; bump; patch
changelog; release notes; what is new
error; exception; failure; fault; crash; bug; defect; problem; issue
crash; abort; terminate; die; segfault; panic; core dump; killed; unexpected exit
fail; failed; broken; does not work; not working; broke; malfunction
stack trace; traceback; backtrace; call stack
bug; defect; glitch; regression; issue; ticket
fix; repair; resolve; patch; solve; correct; hotfix
debug; troubleshoot; diagnose; investigate; find the cause
incident; outage; downtime; disruption; service down; unavailable; offline; pager
postmortem; root cause; retrospective; incident review
slow; latency; lag; sluggish; takes long; delay; response time; performance
fast; quick; speed; performance; optimise; optimize; speed up; accelerate
timeout; time out; timed out; deadline; hang; hanging; stuck; no response; unresponsive
retry; try again; repeat; reattempt; backoff; redeliver
rate limit; throttle; throttling; quota; 429; too many requests; limit exceeded
memory; ram; heap; oom; out of memory
memory leak; heap growth; rising memory
cpu; processor; core; compute; load
gpu; graphics card; cuda; accelerator
disk; storage; volume; drive; ssd; filesystem; space
disk full; no space left; enospc; out of space
database; db; postgres; postgresql; sql; mysql; sqlite; relational; rdbms
nosql; mongodb; redis; key-value store; cassandra; dynamodb
query; select; sql statement; search; lookup
index; btree; full-text index; search index
table; relation; schema; columns; rows; records
transaction; commit; acid; isolation; begin
migration; schema change; alter table; ddl
backup; snapshot; dump; copy; archive; restore; recovery
replica; replication; standby; follower; failover; high availability
cache; caching; redis; memoize; lru; ttl; cdn
queue; message queue; broker; kafka; rabbitmq; nats; jetstream; pubsub; bus
event; message; signal; notification; topic
stream; streaming; sse; chunk; live
websocket; socket; ws; persistent connection; real time; realtime; live updates
http; rest; web; request; response; endpoint; api
api; interface; endpoint; sdk; integration; web service
webhook; callback; http callback; event delivery
grpc; protobuf; rpc; remote procedure call
graphql; schema; resolver; apollo
json; yaml; toml; xml; csv; serialisation; format
server; host; machine; node; backend; instance; vm
client; browser; frontend; consumer; caller
proxy; gateway; reverse proxy; nginx; envoy; ingress; load balancer
load balancer; balancing; distribute traffic; round robin; failover
health check; liveness; readiness; probe; heartbeat; is alive; ping
service discovery; registry; consul; lookup of services; registration
microservice; service; component; module; daemon
monitor; monitoring; observability; metrics; prometheus; grafana; dashboard
trace; tracing; span; opentelemetry; otel; jaeger; distributed tracing
log; logs; logging; log file; journal; syslog
metric; gauge; counter; histogram; percentile; p99; statistics
container; docker; podman; image; oci; containerd
kubernetes; k8s; cluster; pod; helm; orchestration
cloud; aws; azure; gcp; hosting
terraform; infrastructure as code; provisioning; ansible
serverless; lambda; function as a service
linux; ubuntu; debian; unix; operating system; kernel
windows; macos; mac; desktop
shell; terminal; bash; command line; cli; console; prompt
script; program; executable; binary; tool
git; repository; repo; version control; github; gitlab; source code
commit; change; changeset; patch; diff
branch; fork; feature branch; main; master
merge; pull request; merge request; pr; rebase; integrate
conflict; merge conflict; collision; concurrent edit; clash
code review; review; approve; reviewer; feedback
build; compile; compiler; bundle; make; webpack; tsc
ci; continuous integration; pipeline; github actions; jenkins; build server; cd
test; testing; unit test; spec; coverage; qa; vitest; jest; pytest
lint; linter; eslint; formatter; prettier; code style
refactor; clean up; restructure; rewrite; simplify; technical debt
dependency; package; library; module; npm; pip; crate
install; setup; set up; configure; installation; getting started
configuration; config; settings; options; preferences; parameters; env; environment variable
documentation; docs; manual; guide; readme; handbook; tutorial; how-to
javascript; typescript; js; ts; node; nodejs; deno; bun; ecmascript
python; django; flask; fastapi; pip
java; kotlin; jvm; spring
rust; cargo; crate; golang; go; c++
function; method; procedure; routine; subroutine; callable
variable; constant; field; property; attribute
async; asynchronous; await; promise; future; concurrent; nonblocking
thread; process; worker; concurrency; parallel; multithreading
lock; mutex; semaphore; deadlock; race condition
type; typing; type checker; interface; generics
null; undefined; nil; none; missing value
array; list; collection; sequence; vector
map; dictionary; hash table; object; lookup table
string; text; characters; utf8; unicode
regex; regular expression; pattern; match
loop; iterate; iteration; for each; repeat
parse; parser; tokenizer; syntax analysis; grammar
cron; schedule; scheduled; nightly; daily; recurring; every day; periodic; timer
workflow; pipeline; process; automation; steps; orchestration; dag
task; job; step; work item; to-do; todo
abort; cancel; stop; interrupt; kill; terminate; end
start; begin; launch; run; boot; execute; kick off
pause; suspend; hold; freeze
resume; continue; unpause; carry on
approve; approval; confirm; accept; sign off; human in the loop
chat; conversation; message; talk; dm; messenger; slack; discussion
channel; room; group; conversation; thread
reply; answer; respond; response; comment
mention; tag; notify; at sign
emoji; reaction; smiley; thumbs up
attachment; file; upload; document; image
download; export; save; fetch
upload; import; attach; send a file; drop
share; sharing; invite; collaborate; give access
delete; remove; erase; destroy; purge; drop; clear
create; add; new; make; insert
edit; change; modify; update; alter; revise
rename; change the name; retitle
move; transfer; relocate; drag
copy; duplicate; clone; replicate
find; search; look up; locate; discover; retrieve
filter; narrow; sort; order by
show; display; view; render; appear; visible
hide; conceal; invisible; collapse
image; picture; photo; screenshot; icon; png; jpeg; graphic
video; clip; recording; screen capture; movie
audio; sound; voice; microphone; speech
font; typeface; text size; letters
dark theme; dark mode; night mode; appearance; colour scheme
language; locale; translation; i18n; localisation; translate; multilingual
mobile; phone; smartphone; android; ios; iphone; tablet
browser; chrome; firefox; safari; web page; tab
page; screen; view; site; website
button; click; press; tap; menu
form; field; input; text box; validation
layout; css; style; html; responsive; design
accessibility; a11y; screen reader; keyboard navigation
bot; assistant; chatbot; agent; ai
ai; artificial intelligence; machine learning; ml; deep learning; neural network
llm; language model; gpt; claude; gemini; llama; mistral; foundation model
prompt; instruction; system message; input text
completion; generation; output; answer of the model; sampling
temperature; randomness; creativity; top p; sampling setting
token; context window; context length; prompt length; max tokens
embedding; vector; similarity; semantic search; retrieval; rag
fine-tune; training; train; learning; dataset
inference; prediction; serving; run a model
hallucination; wrong answer; made up; inaccurate
tool call; function calling; mcp; tool use; plugin
provider; vendor; openai; anthropic; supplier
routing; route; fallback; choose a model; dispatch
gguf; llama.cpp; quantised; weights; local model; ollama
guardrail; moderation; safety; content filter; policy
cost; spend; usage; budget; tokens used; bill
meeting; call; appointment; conference; standup; sync; zoom
schedule; calendar; plan; book; arrange; timetable
tomorrow; next day; soon; later
today; now; currently; at the moment
deadline; due date; due; time limit; overdue
project; initiative; programme; roadmap; milestone
team; group; department; crew; squad; colleagues; coworkers
employee; staff; worker; colleague; personnel
hire; recruit; hiring; recruitment; job opening; candidate; interview
fire; lay off; dismiss; leave the company; resign; quit; offboarding
manager; boss; lead; supervisor; head
developer; engineer; programmer; coder; software engineer
customer; client; buyer; user; shopper
support; help; helpdesk; customer service; assistance; contact us
complaint; complain; feedback; unhappy; dissatisfied
order; purchase; delivery; shipment; parcel
contract; agreement; terms; deal
law; legal; lawyer; compliance; regulation
report; summary; analysis; overview; digest
summarise; summarize; summary; tl;dr; shorten; abstract
spreadsheet; excel; table; sheet; csv
presentation; slides; powerpoint; deck
email; mail; inbox; letter; message
spam; junk; phishing; scam
holiday; vacation; leave; time off; pto
sick; ill; doctor; medicine; hospital; health
car; vehicle; automobile; truck; drive; road
train; railway; bus; transport; station
flight; plane; airport; airline; travel; trip
hotel; accommodation; room; stay; reservation
food; meal; lunch; dinner; eat; restaurant; cook; recipe
drink; coffee; tea; water; beer
weather; rain; sun; forecast; temperature; storm; wind
house; home; flat; apartment; building
school; teacher; student; class; lesson; education
money; cash; bank; finance; dollars; euro
football; soccer; match; goal; player; sport
music; song; band; concert; orchestra
book; novel; author; read; library
child; kid; baby; boy; girl; son; daughter
dog; puppy; pet; cat; animal
big; large; huge; great; enormous
small; little; tiny; minor; compact
old; ancient; legacy; outdated; stale; obsolete; deprecated
new; fresh; recent; latest; modern
good; great; excellent; fine; works well
bad; poor; terrible; awful; wrong
happy; glad; pleased; satisfied
angry; upset; annoyed; frustrated
thanks; thank you; cheers; much appreciated
hello; hi; hey; good morning; welcome
goodbye; bye; see you; farewell
yes; agreed; sure; okay; ok; correct
no; not; never; refuse; decline
important; critical; urgent; priority; essential; asap
easy; simple; straightforward; trivial
hard; difficult; complicated; complex; tricky
empty; blank; nothing; no results; none found
missing; lost; not found; 404; gone; absent
wrong; incorrect; invalid; false; mistaken
duplicate; twice; repeated; double
network; internet; connection; connectivity; wifi; offline
connect; connection; link; attach; join
disconnect; connection lost; drop; closed socket; dropped
connection refused; unreachable; cannot connect; econnrefused; no route
dns; domain; hostname; name resolution
ip; address; subnet; network address
port; listen; bind; tcp; udp
firewall; blocked; allow list; deny list; security group
vpn; tunnel; private network
sandbox; isolation; jail; untrusted code
scale; scaling; autoscale; capacity; horizontal; grow
limit; maximum; cap; threshold; ceiling
size; length; bytes; megabytes; large file
too large; too big; exceeds the limit; 413; oversize
stale; out of date; expired; old; no longer valid
leader; election; consensus; raft; quorum
idempotent; exactly once; deduplicate; at least once
feature flag; toggle; experiment; a/b test; gradual rollout; canary
canary; blue green; staged rollout; progressive delivery
staging; test environment; sandbox; preview; dev
production; prod; live; live system
sprint; agile; scrum; backlog; kanban
issue; ticket; task; jira; story
estimate; effort; points; how long
risk; danger; threat; hazard
idea; proposal; suggestion; request; rfc
decide; decision; choose; pick; select
ask; question; inquire; wonder
explain; describe; clarify; tell; teach
"""

ACTIONS = (
    ('reset', 'recover', 'change', 'restore'),
    ('delete', 'remove', 'erase', 'get rid of'),
    ('create', 'add', 'set up', 'make'),
    ('find', 'search for', 'look up', 'locate'),
    ('update', 'change', 'edit', 'modify'),
    ('share', 'send', 'publish', 'give others'),
    ('export', 'download', 'save', 'get a copy of'),
    ('fix', 'repair', 'resolve', 'troubleshoot'),
    ('enable', 'turn on', 'activate', 'switch on'),
    ('disable', 'turn off', 'deactivate', 'switch off'),
    ('cancel', 'stop', 'abort', 'end'),
    ('see', 'view', 'show', 'list'),
    ('configure', 'adjust', 'customise', 'set'),
    ('monitor', 'watch', 'track', 'observe'),
)

OBJECTS = (
    ('password', 'login credentials', 'passcode'),
    ('account', 'user profile', 'membership'),
    ('invoice', 'bill', 'receipt'),
    ('message', 'post', 'chat entry'),
    ('channel', 'room', 'group conversation'),
    ('workflow', 'pipeline', 'automation'),
    ('job', 'task', 'run'),
    ('database', 'postgres instance', 'sql store'),
    ('server', 'host', 'machine'),
    ('deployment', 'release', 'rollout'),
    ('api key', 'access token', 'credential'),
    ('notification', 'alert', 'reminder'),
    ('file', 'document', 'attachment'),
    ('meeting', 'appointment', 'call'),
    ('error', 'exception', 'failure'),
    ('agent', 'bot', 'assistant'),
    ('model', 'llm', 'language model'),
    ('container', 'docker image', 'pod'),
    ('log', 'history', 'audit trail'),
    ('permission', 'access right', 'role'),
    ('backup', 'snapshot', 'archive'),
    ('subscription', 'plan', 'licence'),
    ('dashboard', 'chart', 'report'),
    ('branch', 'pull request', 'repository'),
)

ASKED = (
    'how do I {a} my {o}',
    'how can I {a} a {o}',
    'I want to {a} the {o}',
    'please {a} the {o}',
    'is it possible to {a} a {o}?',
    'we need to {a} our {o} today',
    '{a} {o}',
    'where do I {a} the {o}?',
)
TOLD = (
    'To {a} your {o}, open the settings and follow the steps.',
    'You can {a} any {o} from the menu.',
    'Administrators may {a} a {o} on its page.',
    'This page explains how to {a} the {o}.',
    'The command will {a} the {o} at once.',
    'Steps needed when you {a} a {o}.',
    'Users who {a} the {o} get a message.',
    'Before you {a} the {o}, make sure that nobody uses it.',
)


def domain_pairs(rng):
    """About 30,000 pairs; each pair of a group comes several times."""
    pairs = []
    for line in GROUPS.strip().splitlines():
        words = [word.strip() for word in line.split(';')]
        for index, word in enumerate(words):
            pairs += [(word, other) for other in words[index + 1 :]] * 2
            pairs.append((word, ' '.join(rng.sample(words, min(3, len(words))))))
    for _ in range(20_000):
        actions, objects = rng.choice(ACTIONS), rng.choice(OBJECTS)
        asked = rng.choice(ASKED).format(a=rng.choice(actions), o=rng.choice(objects))
        told = rng.choice(TOLD).format(a=rng.choice(actions), o=rng.choice(objects))
        pairs.append((asked, told))
    return pairs
