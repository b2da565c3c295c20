import type { ChatRequest, Message } from '../conversation/request.ts';
import type { TaskKind } from './plan.ts';

/** What a request is about, and the rule that found it. */
export interface TaskFinding {
  readonly kind: TaskKind;
  readonly rule: string;
}

/** What the rules look at. */
interface Question {
  /** The start and the end of the last message of the user: long texts have the ask there. */
  readonly ask: string;
  /** Characters of the whole last message of the user. */
  readonly length: number;
  readonly system: string;
  readonly tools: readonly string[];
}

interface Rule {
  readonly kind: TaskKind;
  readonly name: string;
  readonly fits: (question: Question) => boolean;
}

const askLength = 1500;
const longText = 4000;
const shortAsk = 400;

const summaryWords =
  /\b(summar(y|i[sz]e|i[sz]ing|ies)|tl;?dr|recap|key (points|takeaways)|condense|in a nutshell|boil (it|this) down|zusammenfass\w*|fass\w* .{0,60}zusammen|kurzfassung|r[ée]sum(ez|er|é (du|des?|la|le|ce))(?!\p{L})|synth[èe]se|resum(en|ir) |res[úu]me(lo)? (el|la|est)|riassum\w+|riassunto|samenvat\w+|streszcz\w+|podsumuj\w*)|кратко|резюмируй|перескажи|总结|摘要|概括|要約|まとめて|요약/iu;
const codeFence = /```|~~~\w/;
const codeLine =
  /^[ \t]*(import .+ from|from \w+ import|def \w+\(|class \w+|function \w*\(|const \w+ ?=|let \w+ ?=|public (static|class|void)|#include|package \w+;?$|fn \w+\(|func \w+\(|SELECT .+ FROM|<\?php|<[a-z]+( [a-z-]+=|>))/im;
const stackTrace =
  /(^[ \t]+at \S{1,200} ?\(.+:\d+:\d+\)|Traceback \(most recent call last\)|\w{0,60}(Error|Exception): |panic: |segmentation fault)/im;
const fileName =
  /\b[\w./-]{1,80}\.(ts|tsx|js|jsx|mjs|py|rs|go|java|kt|swift|rb|php|cs|cpp|hpp|cc|c|h|sql|sh|ya?ml|toml|tf|dockerfile|vue|svelte|scala|ex|lua)\b/i;
const codeVerb =
  /\b(implement|refactor|debug|compile|fix|write|review|unit[- ]?test|port|optimi[sz]e|schreib\w*|programmier\w*|behebe|[ée]cris|corrige|escrib\w+|implementa|scrivi|napisz)\b/iu;
const codeNoun =
  /\b(code|function|script|program|class|method|regex|regexp|sql|query|api|endpoint|algorithm|bug|unit tests?|dockerfile|typescript|javascript|python|rust|golang|java|kotlin|swift|c\+\+|bash|html|css|react|node(\.?js)?|funktion|skript|programm|code|fonction|funci[óo]n|c[óo]digo|funzione)\b|代码|函数|コード|関数|코드|функци|код\b/iu;
/** What is called so outside of programs, too: `the function of society`, `a class of birds`. */
const worldlyNoun =
  /\b(function|class|program|script|method|query|java|rust|swift|python|code)s? (of|for) (the )?(social|society|culture|religion|language|art|law|education|government|state|family|conduct|ethics|honou?r|birds?|animals?|plants?|people|students|exercise|study|citizens)\b/giu;
const codeTool =
  /(^|_)(bash|shell|exec|run_code|python|edit|write_file|read_file|apply_patch|grep)/i;

/** The rules, in order; the first that fits names the kind. */
export const taskRules: readonly Rule[] = [
  {
    kind: 'summarization',
    name: 'the request asks for a summary',
    fits: ({ ask }) => summaryWords.test(ask),
  },
  { kind: 'code', name: 'it holds a code block', fits: ({ ask }) => codeFence.test(ask) },
  { kind: 'code', name: 'it holds an error of a program', fits: ({ ask }) => stackTrace.test(ask) },
  { kind: 'code', name: 'it holds lines of code', fits: ({ ask }) => codeLine.test(ask) },
  { kind: 'code', name: 'it names a source file', fits: ({ ask }) => fileName.test(ask) },
  {
    kind: 'code',
    name: 'it asks to work on code',
    fits: ({ ask }) => {
      const plain = ask.replace(worldlyNoun, ' ');
      return (
        codeNoun.test(plain) && (codeVerb.test(plain) || /代码|函数|コード|関数|코드/.test(plain))
      );
    },
  },
  {
    kind: 'code',
    name: 'it brings tools that work on code',
    fits: ({ tools }) => tools.some((name) => codeTool.test(name)),
  },
  {
    kind: 'summarization',
    name: 'the system message asks for summaries',
    fits: ({ system }) => summaryWords.test(system),
  },
  {
    kind: 'summarization',
    name: 'a long text follows or precedes a short ask for its content',
    fits: ({ ask, length }) => length > longText && isAboutText(ask),
  },
];

const otherwise: TaskFinding = { kind: 'chat', rule: 'no rule of code or summarization fits' };

/** What a request is about, by the rules above. */
export function findTaskKind(request: ChatRequest): TaskFinding {
  const question = readQuestion(request);
  const rule = taskRules.find(({ fits }) => fits(question));
  return rule ? { kind: rule.kind, rule: rule.name } : otherwise;
}

const aboutText =
  /\b(what (is|does) (this|it) (about|say)|main (idea|point)s?|extract|shorten|shorter|gist|worum geht|k[üu]rze|de quoi|de qu[ée] trata)\b/iu;

function isAboutText(ask: string): boolean {
  return aboutText.test(ask.slice(0, shortAsk)) || aboutText.test(ask.slice(-shortAsk));
}

function readQuestion({ messages, tools }: ChatRequest): Question {
  const last = messages.findLast(({ role }) => role === 'user');
  const text = last ? textOf(last) : '';
  const system = messages.find(({ role }) => role === 'system');
  return {
    ask: text.length > 2 * askLength ? endsOf(text) : text,
    length: text.length,
    system: system ? textOf(system).slice(0, askLength) : '',
    tools: tools.map(({ name }) => name),
  };
}

function endsOf(text: string): string {
  return `${text.slice(0, askLength)}\n${text.slice(-askLength)}`;
}

function textOf({ parts }: Message): string {
  const texts: string[] = [];
  for (const part of parts) if (part.type === 'text') texts.push(part.text);
  return texts.length === 1 ? (texts[0] ?? '') : texts.join('\n');
}
