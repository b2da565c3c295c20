import type { BuiltinSpecialTokenValue, Token, Tokenizer } from 'node-llama-cpp';
import type { Library } from './library.ts';
import type { Pointer } from './structs.ts';

/** A mark of a vocabulary, and how it is written. */
interface Mark {
  readonly token: Token;
  readonly text: string;
}

/** How a vocabulary was made, as far as it matters here (`enum llama_vocab_type`). */
const types = { wordPiece: 3, unigram: 4, rwkv: 5 };

/** `enum llama_token_attr`. */
const attributes = { unknown: 1, control: 8 };

/** Turns texts into tokens and back, and knows which tokens mean something. */
export class Vocabulary {
  readonly size: number;
  /** As node-llama-cpp's chat formats ask for tokens. */
  readonly tokenizer: Tokenizer;
  readonly bos: Mark | undefined;
  readonly eos: Mark | undefined;
  readonly #eot: Mark | undefined;
  readonly #nl: Mark | undefined;
  readonly #sep: Mark | undefined;
  readonly #library: Library;
  readonly #address: Pointer;

  constructor(library: Library, address: Pointer) {
    this.#library = library;
    this.#address = address;
    this.size = library.vocabularySize(address);
    this.bos = this.#controlMark(library.bosOf(address));
    this.eos = this.#controlMark(library.eosOf(address));
    this.#eot = this.#mark(library.eotOf(address));
    this.#sep = this.#mark(library.sepOf(address));
    this.#nl = this.#knownMark(library.nlOf(address));
    this.tokenizer = Object.assign(
      (text: string, how?: boolean | 'builtin', options?: 'trimLeadingSpace') =>
        how === 'builtin'
          ? this.#builtIn(text as BuiltinSpecialTokenValue)
          : this.tokenize(text, { withMarks: how === true, isTrimmed: options !== undefined }),
      {
        detokenize: this.detokenize,
        isSpecialToken: this.isSpecial,
        isEogToken: this.endsAnswer,
      },
    );
  }

  get address(): Pointer {
    return this.#address;
  }

  /** What the model wants at the beginning of every prompt; undefined where it wants nothing. */
  get beginMark(): Token | undefined {
    return this.bos && this.#library.addsBos(this.#address) ? this.bos.token : undefined;
  }

  /** What stands around a text of which a vector is made (`llama_vocab::impl::tokenize`). */
  frame(): { readonly first: Token | undefined; readonly last: Token | undefined } {
    const type = this.#library.vocabularyType(this.#address);
    if (type === types.rwkv) return { first: undefined, last: undefined };
    if (type === types.wordPiece) return { first: this.bos?.token, last: this.#sep?.token };
    if (type === types.unigram) return { first: undefined, last: this.eos?.token };
    const addsEos = this.bos !== undefined && this.#library.addsEos(this.#address);
    return { first: this.beginMark, last: addsEos ? this.eos?.token : undefined };
  }

  /**
   * The tokens of a text; what looks like a mark in it becomes one only `withMarks`. `isTrimmed` leaves out
   * the space that some vocabularies put before a text.
   */
  tokenize(
    text: string,
    { withMarks = false, isTrimmed = false }: { withMarks?: boolean; isTrimmed?: boolean } = {},
  ): Token[] {
    if (text === '') return [];
    const trimmed = isTrimmed ? this.#tokenizeTrimmed(text, withMarks) : undefined;
    return trimmed ?? this.#tokenize(text, withMarks);
  }

  /**
   * The text of tokens, without that of marks unless `withMarks`. Those that stand `before` them decide about
   * a space between; bytes that are no character become U+FFFD.
   */
  readonly detokenize = (
    tokens: readonly Token[],
    withMarks = false,
    before: readonly Token[] = [],
  ): string => {
    if (tokens.length === 0) return '';
    const lead = before.slice(-beforeMax);
    const leadText = this.#detokenize(lead, withMarks);
    if (leadText === '') return this.#detokenize(tokens, withMarks);
    const text = this.#detokenize([...lead, ...tokens], withMarks);
    if (text.startsWith(leadText)) return text.slice(leadText.length);
    return this.#detokenize(tokens, withMarks);
  };

  /** Whether a token is a mark, which no text of a caller may become. */
  readonly isSpecial = (token: Token): boolean => {
    if (this.#has(token, attributes.control) || this.endsAnswer(token)) return true;
    return this.#detokenize([token], false) === '' && this.#detokenize([token], true) !== '';
  };

  /** Whether a model says with this token that its answer has ended. */
  readonly endsAnswer = (token: Token): boolean =>
    token === this.eos?.token ||
    token === this.#eot?.token ||
    this.#library.isEog(this.#address, token);

  #builtIn(name: BuiltinSpecialTokenValue): Token[] {
    const marks = { BOS: this.bos, EOS: this.eos, NL: this.#nl, EOT: this.#eot, SEP: this.#sep };
    const mark = marks[name];
    return mark ? [mark.token] : [];
  }

  /** The text is read behind something that takes the space, and that is taken off again. */
  #tokenizeTrimmed(text: string, withMarks: boolean): Token[] | undefined {
    const behindMark = withMarks ? this.#tokenizeBehindMark(text) : undefined;
    if (behindMark) return behindMark;
    if (text.startsWith('\n')) {
      const tokens = this.#tokenize(text, withMarks);
      if (this.#detokenize(tokens, withMarks).startsWith('\n')) return tokens;
    }
    const lead = this.#tokenize('\n', withMarks);
    const tokens = this.#tokenize(`\n${text}`, withMarks);
    if (lead.length === 0 || lead.some((token, at) => tokens[at] !== token)) return undefined;
    const rest = tokens.slice(lead.length);
    return withMarks && !this.#keepsSpaces(rest, text) ? undefined : rest;
  }

  #tokenizeBehindMark(text: string): Token[] | undefined {
    const mark = this.bos ?? this.eos ?? this.#nl ?? this.#eot;
    if (!mark) return undefined;
    const tokens = this.#tokenize(mark.text + text, true);
    const at = tokens.indexOf(mark.token);
    const rest = tokens.slice(at + 1);
    return (at === 0 || at === 1) && this.#keepsSpaces(rest, text) ? rest : undefined;
  }

  #keepsSpaces(tokens: readonly Token[], text: string): boolean {
    return leadingSpaces(this.#detokenize(tokens, true)) === leadingSpaces(text);
  }

  #tokenize(text: string, withMarks: boolean): Token[] {
    const bytes = Buffer.from(text);
    const read = (room: Int32Array) =>
      this.#library.tokenize(
        this.#address,
        bytes,
        bytes.length,
        room,
        room.length,
        false,
        withMarks,
      );
    let room = new Int32Array(bytes.length + 2);
    let count = read(room);
    if (count < 0) {
      room = new Int32Array(-count);
      count = read(room);
    }
    return Array.from(room.subarray(0, count)) as Token[];
  }

  #detokenize(tokens: readonly Token[], withMarks: boolean): string {
    if (tokens.length === 0) return '';
    const given = Int32Array.from(tokens);
    const write = (room: Uint8Array) =>
      this.#library.detokenize(
        this.#address,
        given,
        given.length,
        room,
        room.length,
        false,
        withMarks,
      );
    let room = Buffer.allocUnsafe(tokens.length * usualBytes);
    let length = write(room);
    if (length < 0) {
      room = Buffer.allocUnsafe(-length);
      length = write(room);
    }
    return room.toString('utf8', 0, length);
  }

  #mark(token: number): Mark | undefined {
    if (token < 0) return undefined;
    const text = this.#library.textOf(this.#address, token) ?? '';
    return { token: token as Token, text };
  }

  #controlMark(token: number): Mark | undefined {
    return token >= 0 && this.#has(token, attributes.control) ? this.#mark(token) : undefined;
  }

  #knownMark(token: number): Mark | undefined {
    return token >= 0 && !this.#has(token, attributes.unknown) ? this.#mark(token) : undefined;
  }

  #has(token: number, attribute: number): boolean {
    return (this.#library.attributesOf(this.#address, token) & attribute) !== 0;
  }
}

/** Further back nothing decides about a space. */
const beforeMax = 3;
const usualBytes = 16;

function leadingSpaces(text: string): number {
  return /^ */.exec(text)?.[0].length ?? 0;
}
