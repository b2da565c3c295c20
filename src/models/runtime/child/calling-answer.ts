import type { Token } from 'node-llama-cpp';
import { newId } from '../../../kit/ids.ts';
import type { Answer, AnswerOptions } from './answer.ts';
import { CallReader } from './call-reader.ts';
import type { Grammar } from '../llama/grammar.ts';
import { literal } from '../grammar/primitives.ts';
import { toGrammarText } from '../grammar/schema-grammar.ts';
import { startGrammar } from './start-grammar.ts';
import { TextStream } from './text-stream.ts';
import type { ToolFormat } from './tool-format.ts';

/**
 * Tells calls from text. As soon as a call begins a grammar takes over until its arguments end, so
 * it names a tool of the request, and its arguments are JSON that fits the tool's schema. The grammar
 * holds the ending too: a model may write the last of its arguments and the ending as one token.
 */
export class CallingAnswer implements Answer {
  readonly #options: AnswerOptions;
  readonly #tokens: TextStream<Token>;
  readonly #calls: CallReader;
  /** Ends the text at stop texts; those within a call do not count. */
  readonly #content: TextStream<string>;
  #grammar: Grammar | undefined;
  #hasCalls = false;

  constructor(options: AnswerOptions, { syntax, marks }: ToolFormat) {
    const { model, work, prompt } = options;
    this.#options = options;
    this.#tokens = new TextStream<Token>(
      (tokens, before) =>
        model.vocabulary.detokenize(
          tokens,
          tokens.some((token) => marks.has(token)),
          before,
        ),
      [],
    );
    this.#calls = new CallReader(syntax, work.mustCall);
    this.#content = new TextStream<string>(
      (texts) => texts.join(''),
      [...work.stop, ...prompt.stopTexts],
    );
    this.#guide();
  }

  get isDone(): boolean {
    return this.#calls.isDone || this.#content.isStopped;
  }

  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  readonly grammar = () => this.#grammar;

  push(token: Token): void {
    const text = this.#tokens.push(token);
    if (text !== '') this.#read(text);
    if (!this.#calls.isInCall) this.#release();
    else if (!this.#grammar) this.#guide();
  }

  finish(): void {
    this.#read(this.#tokens.finish());
    const rest = this.#calls.finish();
    if (rest !== '') this.#give(this.#content.push(rest));
    this.#give(this.#content.finish());
  }

  [Symbol.dispose](): void {
    this.#release();
  }

  #read(text: string): void {
    for (let reading = this.#calls.push(text); ; reading = this.#calls.push('')) {
      if (reading.text !== '') this.#give(this.#content.push(reading.text));
      if (!reading.call || this.#content.isStopped) return;
      this.#hasCalls = true;
      this.#release();
      this.#options.emit({ type: 'tool-call', call: { id: newId('call'), ...reading.call } });
    }
  }

  #give(text: string): void {
    if (text !== '') this.#options.emit({ type: 'text', text });
  }

  #guide(): void {
    const { tools } = this.#options.work;
    const choices = this.#calls.continuations.flatMap(({ name, text, ending }) => {
      const tool = tools.find((one) => one.name === name);
      if (!tool) return [];
      const body = `${literal(text)} ${tool.grammar.root} ${literal(ending)}`;
      return [{ body, rules: tool.grammar }];
    });
    if (choices.length === 0) return;
    const root = choices.map(({ body }) => body).join(' | ');
    const text = toGrammarText(
      root,
      choices.map(({ rules }) => rules),
    );
    this.#grammar = startGrammar(this.#options.model, text);
  }

  #release(): void {
    this.#grammar?.[Symbol.dispose]();
    this.#grammar = undefined;
  }
}
