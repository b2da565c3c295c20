import type { VoiceAction } from './action.ts';

type Read = (...groups: readonly string[]) => VoiceAction | undefined;
type Rule = readonly [RegExp, Read];

/** What is longer is something to say, not a command. */
const commandChars = 1_000;

const one = '(?:conversation|chat|thread)';
const many = '(?:conversations|chats|threads)';
const called = '(?: (?:called|named|titled|about|with the title))?';
const mine = '(?:the |my )?';
const show = '(?:list|show|read|tell)(?: me| us)?';
/** What is not to be looked for in conversations. */
const notOutside = '(?!out |.*\\b(?:the web|the internet|online)\\b)';

const rules: readonly Rule[] = [
  rule(`(?:(?:start|begin|create|open|make|add) )?(?:a |an )?new ${one}(?:${called} (.+))?`, toNew),
  rule(`(?:start|begin|create|make) a ${one}(?:${called} (.+))?`, toNew),
  rule(`(?:delete|remove|erase|discard) (?:this|the|the current|my current|my) ${one}`, () => ({
    action: 'delete_conversation',
  })),
  rule(`(?:delete|remove|erase|discard) ${mine}${one}${called} (.+)`, toDelete),
  rule(`(?:delete|remove|erase|discard) ${mine}(.+) ${one}`, toDelete),
  rule(
    `rename (?:this|it|the|the current|my current|my)(?: ${one})? (?:to|as|into) (.+)`,
    (title) => ({
      action: 'rename_conversation',
      title,
    }),
  ),
  rule(`(?:call|name) this ${one} (.+)`, (title) => ({ action: 'rename_conversation', title })),
  rule(`rename ${mine}${one}${called} (.+?) (?:to|as|into) (.+)`, toRename),
  rule(`rename ${mine}(.+?) ${one} (?:to|as|into) (.+)`, toRename),
  rule(
    `(?:${show}|what are|which are)(?: all)?(?: of)?(?: my| the)?(?: recent| last| latest)? ${many}`,
    toListed,
  ),
  rule(`(?:what|which|how many) ${many} (?:do i have|are there|have i got)`, toListed),
  rule(
    `(?:search|look)(?: through| in)?(?: all)?(?: of)?(?: my| the)? (?:${many}|messages|history) for (.+)`,
    toSearch,
  ),
  rule(
    `(?:search for|search|find|look for)(?: the)? (.+) in (?:all |all of )?(?:my |the )?(?:${many}|messages|history)`,
    toSearch,
  ),
  rule(`(?:search(?: for)?|look for) ${notOutside}(?:the )?(.+)`, toSearch),
  rule(`find ${notOutside}(?:the )?(.+)`, (query = '') => ({
    action: 'search_conversations',
    query,
    isGuess: true,
  })),
  rule('what did (?:i|we) (?:say|write|talk|discuss)(?: about)? (.+)', toSearch),
  rule(
    `(?:open|show|go to|go back to|switch to|load|continue)(?: me)? ${mine}${one}${called} (.+)`,
    toOpen,
  ),
  rule(`(?:open|go to|go back to|switch to|load|continue) ${mine}(.+) ${one}`, toOpen),
  rule(`${show}(?: all)?(?: the| my| of the)? (agents|models|tools)(?: that there are)?`, toKind),
  rule(
    '(?:what|which|how many) (agents|models|tools) (?:are|do|can|have) (?:there|we have|i have|i use|we use|you have|we got|i got|online|active|available|running)',
    toKind,
  ),
  rule('who is (?:there|available|online)', () => ({ action: 'list_agents' })),
  rule("(?:what is |what's )?(?:the )?(?:status|state|health) of (?:the )?agent (.+)", (name) => ({
    action: 'agent_status',
    name,
  })),
  rule("(?:what is |what's )?(?:the )?(?:progress|status)(?: of (?:it|that|the task))?", toTask),
  rule("(?:what is |what's )?(?:the )?(?:status|state|health) of (.+)", (name) => ({
    action: 'agent_status',
    name,
    isGuess: true,
  })),
  rule('how is (?:the )?agent (.+?)(?: doing)?', (name) => ({ action: 'agent_status', name })),
  rule(
    'is (?:the )?agent (.+) (?:ok|okay|alive|online|active|available|healthy|up|there)',
    (name) => ({ action: 'agent_status', name }),
  ),
  rule('how far (?:is|are) (?:it|they|that|the task|the agent)', toTask),
  rule('(?:is|are) (?:it|they|that|the task) (?:done|finished|ready|complete)(?: yet)?', toTask),
  rule('what did (?:it|they|he|she|the agents?) (?:say|find|answer|do)', toTask),
  rule('(?:ask|tell) (?:the )?(?:agent )?(.+?) to (.+)', toAsk),
  rule(
    '(?:stop|cancel|abort|halt|be quiet|shut up|enough|never ?mind)(?: (?:it|that|this|the answer|answering|talking|now|generating|writing))*',
    () => ({ action: 'stop' }),
  ),
  rule(
    '(?:read|repeat)(?: me| out)*(?: the| your| that| it)?(?: last| latest| previous)?(?: answer| message| reply| response)?(?: to me)?(?: again| aloud| out loud)*',
    toRead,
  ),
  rule('what did you (?:just )?say|say (?:that|it) again', toRead),
  rule('(?:send|say)(?: the)?(?: following)? (?:message|text):? (.+)', toSend),
  rule(
    '(?:send|say):? (?!an? |the |my |this |that |these |those |me |him |her |them |us )(.+)',
    toSend,
  ),
  rule('help|what can (?:i say|you do|i do)', () => ({ action: 'help' })),
];

/** What a command of the grammar asks for; undefined for anything else. */
export function readCommand(transcription: string): VoiceAction | undefined {
  if (transcription.length > commandChars) return undefined;
  const text = tidy(transcription);
  for (const [pattern, read] of rules) {
    const match = pattern.exec(text);
    const action = match && read(...match.slice(1).map((group) => unquote(group ?? '')));
    if (action) return action;
  }
  return undefined;
}

const agreementChars = 100;
const yes =
  /^(?:yes|yeah|yep|sure|ok|okay|confirm|confirmed|go ahead|do it|right|correct|exactly|approve|approved|allow)(?:,? (?:it is|that is right|that's right|do it|do that|go ahead|delete it|delete that|approve it|allow it|of course|thanks?|thank you|sure))*$/i;
const no =
  /^(?:no|nope|nah|don't|do not|cancel|stop|never ?mind|leave it|wrong|refuse|deny)(?:,? (?:it|that|this|do it|do that|don't|do not|delete it|stop|wait|keep it|leave it|thanks?|thank you|it isn't|it is not))*$/i;

/** Whether an answer to a question agrees; undefined when it says something else. */
export function readAgreement(transcription: string): boolean | undefined {
  if (transcription.length > agreementChars) return undefined;
  const text = tidy(transcription);
  if (yes.test(text)) return true;
  return no.test(text) ? false : undefined;
}

function rule(pattern: string, read: Read): Rule {
  return [new RegExp(`^(?:${pattern})$`, 'i'), read];
}

const addresses = /^(?:(?:hey|hi|hello|ok|okay|please|now|and|so|then|ennead),? )+(?=\S)/i;
const requests =
  /^(?:(?:can|could|would|will) you |i want you to |i want to |i would like to |i'd like to |let's |let us )(?:please )?/i;

/** The command itself, without what politeness puts around it. */
function tidy(transcription: string): string {
  const plain = transcription.normalize('NFKC').replaceAll('’', "'").replaceAll(/\s+/g, ' ').trim();
  return plain
    .replace(/[\s.!?,;…]+$/, '')
    .replace(addresses, '')
    .replace(requests, '')
    .replace(/,? (?:please|for me|thanks|thank you)$/i, '');
}

function unquote(text: string): string {
  return text.replace(/^["'“«](.*)["'”»]$/, '$1').trim();
}

function toNew(title = ''): VoiceAction {
  return title === '' ? { action: 'new_conversation' } : { action: 'new_conversation', title };
}

function toDelete(name = ''): VoiceAction {
  return { action: 'delete_conversation', name };
}

function toRename(name = '', title = ''): VoiceAction {
  return { action: 'rename_conversation', name, title };
}

function toOpen(name = ''): VoiceAction {
  return { action: 'open_conversation', name };
}

function toListed(): VoiceAction {
  return { action: 'list_conversations' };
}

function toSearch(query = ''): VoiceAction {
  return { action: 'search_conversations', query };
}

function toKind(kind = ''): VoiceAction {
  if (kind.toLowerCase() === 'agents') return { action: 'list_agents' };
  return { action: kind.toLowerCase() === 'models' ? 'list_models' : 'list_tools' };
}

function toTask(): VoiceAction {
  return { action: 'task_status' };
}

const noAgent = /^(?:me|us|you|him|her|them|it|people|everyone|somebody|someone)\b/i;
const agentWordsMax = 5;

/** "Tell me how to cook" asks no agent. */
function toAsk(name = '', task = ''): VoiceAction | undefined {
  if (noAgent.test(name) || name.split(' ').length > agentWordsMax) return undefined;
  return { action: 'ask_agent', name, task };
}

function toRead(): VoiceAction {
  return { action: 'read_answer' };
}

function toSend(text = ''): VoiceAction {
  return { action: 'send_message', text };
}
