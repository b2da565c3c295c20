import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { AskedIds } from '../links/asked-ids.ts';
import { faultAnswer } from '../links/link-faults.ts';
import { idOfLongLine, lineTooLong, LineSplitter, type LongLine } from './frames.ts';
import type { RunningProcess } from './running-process.ts';

export interface ChildTransportOptions {
  /** Of one message of the server, which is taken; 10 MiB. */
  readonly frameMaxBytes: number;
  readonly log: Log;
}

/**
 * MCP over standard input and output: one JSON-RPC message a line. Lines that are none are passed over
 * up to a bound, as package runners like to greet. `onclose` comes once, as soon as nothing can be
 * sent any more; a failure reaches `onerror` as a Fault just before it.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Resolves when the process and all its descendants are gone; with the Fault unless it was closed first. */
  readonly ended: Promise<Fault | undefined>;
  readonly #process: RunningProcess;
  readonly #splitter: LineSplitter;
  readonly #asked = new AskedIds();
  readonly #frameMaxBytes: number;
  readonly #log: Log;
  #resolveEnded: (fault: Fault | undefined) => void = () => {};
  /** Resolves when nothing can be sent or heard any more. */
  readonly #over: Promise<void>;
  #resolveOver: () => void = () => {};
  #isStarted = false;
  #isOpen = true;
  /** Whether it has exited, or closed its input or output, while nobody here had ended it. */
  #hasLeft = false;
  #fault: Fault | undefined;
  #hasSpoken = false;
  #strayLines = 0;
  #strayBytes = 0;

  constructor(process: RunningProcess, { frameMaxBytes, log }: ChildTransportOptions) {
    this.#process = process;
    this.#splitter = new LineSplitter(frameMaxBytes);
    this.#frameMaxBytes = frameMaxBytes;
    this.#log = log;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    this.#watchEnd();
  }

  /** What ended it; undefined while it is open and when it was closed first. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Begins to read. Rejects with the Fault when the process has failed already. */
  async start(): Promise<void> {
    if (!this.#isOpen) throw this.#closedFault();
    if (this.#isStarted) throw new Error('the transport was started before');
    this.#isStarted = true;
    this.#hear();
  }

  /**
   * Resolves when the process's pipe has room again. Rejects with Fault `unavailable` when the process
   * is gone or leaves more than a message's bound unread.
   */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#isOpen) throw this.#closedFault();
    const { stdin } = this.#process.child;
    if (stdin.writableLength > this.#frameMaxBytes) {
      throw new Fault('unavailable', 'the server does not read what it is sent', {
        reason: 'process_not_reading',
      });
    }
    this.#asked.noteSent(message);
    const error = await new Promise<Error | null | undefined>((resolve) => {
      const hasRoom = stdin.write(`${JSON.stringify(message)}\n`, (failure) => {
        if (failure) this.#noteLeft();
        resolve(failure);
      });
      if (hasRoom) resolve(undefined);
    });
    if (!error) return;
    // How it ended, and what it wrote, is known in a moment.
    await this.#over;
    throw this.#closedFault();
  }

  /** Resolves when the process and all its descendants are gone. */
  async close(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#resolveOver();
      this.#call(() => this.onclose?.());
      await this.#settle(() => this.#end());
    }
    await this.ended;
  }

  /** Ends it for a reason of ours, without grace. */
  fail(fault: Fault): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#fault = this.#explain(fault);
    this.#resolveOver();
    const told = this.#fault;
    this.#call(() => this.onerror?.(told));
    this.#call(() => this.onclose?.());
    void this.#settle(async () => this.#process.kill());
  }

  #hear(): void {
    this.#process.output.hear((chunk) => this.#read(chunk));
  }

  #watchEnd(): void {
    const { child } = this.#process;
    const end = () => {
      this.#hear();
      this.fail(this.#exitFault());
    };
    // The last answer may still lie in the pipe, and a descendant may keep the pipe open for ever.
    const endSoon = () => {
      this.#noteLeft();
      setTimeout(end, drainMs).unref();
    };
    child.once('close', end);
    child.once('exit', endSoon);
    child.stdout.once('end', endSoon);
    child.stdin.once('error', endSoon);
    if (this.#process.hasExited) endSoon();
  }

  #noteLeft(): void {
    if (this.#isOpen) this.#hasLeft = true;
  }

  /** Who talks to a process that leaves often closes before all is read: that is no ending of ours. */
  async #end(): Promise<boolean> {
    const isGone = await this.#process.end();
    this.#hear();
    if (this.#hasLeft) this.#fault = this.#explain(this.#exitFault());
    return isGone;
  }

  #exitFault(): Fault {
    const how = this.#process.exitText ?? 'closed its input or output';
    if (this.#hasSpoken || this.#strayLines === 0) {
      return new Fault('unavailable', `the server's process ${how}`, { reason: 'process_exited' });
    }
    const message = `the server's process wrote what is no MCP, and ${how}`;
    return new Fault('upstream', message, { reason: 'not_mcp' });
  }

  /** Never rejects: whatever happens, who waits for the end is let go. */
  async #settle(end: () => Promise<boolean>): Promise<void> {
    try {
      const isGone = await end();
      if (!isGone) this.#log.error({ pid: this.#process.name.pid }, 'a process would not end');
    } catch (error) {
      this.#log.error({ err: error, pid: this.#process.name.pid }, 'ending a process failed');
    }
    this.#resolveEnded(this.#fault);
  }

  /** Of a process that has left, what it wrote last tells why, though nobody takes its messages. */
  #read(chunk: Buffer): void {
    if (!this.#isOpen && !this.#hasLeft) return;
    try {
      for (const line of this.#splitter.push(chunk)) {
        if (Buffer.isBuffer(line)) this.#readLine(line);
        else this.#refuse(line);
      }
    } catch (error) {
      this.fail(Fault.from(error));
    }
  }

  #readLine(line: Buffer): void {
    const messages = parseLine(line);
    if (!messages) return this.#passOver(line);
    this.#hasSpoken = true;
    if (!this.#isOpen) return;
    this.#strayLines = 0;
    this.#strayBytes = 0;
    for (const message of messages) {
      this.#call(() => this.onmessage?.(this.#asked.received(message)));
    }
  }

  /** An answer that is too large fails its request alone: others use the process too. */
  #refuse(line: LongLine): void {
    const fault = lineTooLong(this.#frameMaxBytes);
    const id = idOfLongLine(line);
    if (id === undefined) throw fault;
    this.#hasSpoken = true;
    if (!this.#isOpen) return;
    this.#call(() => this.onmessage?.(this.#asked.received(faultAnswer(id, fault))));
  }

  #passOver(line: Buffer): void {
    if (line.length === 0 || (line.length === 1 && line[0] === carriageReturn)) return;
    this.#strayLines += 1;
    this.#strayBytes += line.length;
    this.#process.noteStray(line);
    if (this.#strayLines <= strayLinesMax && this.#strayBytes <= strayBytesMax) return;
    throw new Fault('upstream', 'the server writes to its output what is no MCP', {
      reason: 'not_mcp',
    });
  }

  #explain(fault: Fault): Fault {
    const { errorText: stderr, strayText: stdout } = this.#process;
    const { exitCode, signalCode } = this.#process.child;
    const { code, message, reason, detail, cause } = fault;
    return new Fault(code, message, {
      ...(reason !== undefined && { reason }),
      detail: {
        ...detail,
        ...(exitCode !== null && { exitCode }),
        ...(signalCode !== null && { signal: signalCode }),
        ...(stderr && { stderr }),
        ...(stdout && { stdout }),
      },
      ...(cause !== undefined && { cause }),
    });
  }

  #closedFault(): Fault {
    return (
      this.#fault ??
      new Fault('unavailable', 'the connection to the server is closed', {
        reason: 'process_exited',
      })
    );
  }

  /** Whoever listens cannot break the reading, or the ending, by throwing. */
  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#log.error({ err: error }, "a listener of a server's process failed");
    }
  }
}

const drainMs = 500;
const carriageReturn = 0x0d;
const strayLinesMax = 1000;
const strayBytesMax = 1_048_576;

/** One message, or the batch that older revisions of MCP allow; undefined for anything else. */
function parseLine(line: Buffer): JSONRPCMessage[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
  const values: unknown[] = Array.isArray(value) ? value : [value];
  // The client checks the rest of each message against its schema.
  return values.every(isMessage) ? values : undefined;
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null) return false;
  const isVersioned = 'jsonrpc' in value && value.jsonrpc === '2.0';
  return isVersioned && ('method' in value || 'result' in value || 'error' in value);
}
