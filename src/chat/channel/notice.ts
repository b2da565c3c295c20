import { textFrame } from '../../kit/sockets/text-frames.ts';

/** What is told to a reader who was too slow for it: events of this were lost. */
export interface NoticeSubject {
  /** Of a turn, a conversation or an agent; absent where it may be any of them. */
  readonly id: string | undefined;
  /** The event's number in its turn; 0 where there are no numbers. */
  readonly seq: number;
}

/** An event on its way to sockets: each form on the wire is made once for all of them. */
export class Notice {
  readonly event: string;
  /** Absent where a loss need not be told. */
  readonly subject: NoticeSubject | undefined;
  readonly #json: string;
  #plainFrame: Buffer | undefined;
  #packetFrame: Buffer | undefined;

  /** The data as JSON. */
  constructor(event: string, json: string, subject?: NoticeSubject) {
    this.event = event;
    this.#json = json;
    this.subject = subject;
  }

  static of(event: string, data: object, subject?: NoticeSubject): Notice {
    return new Notice(event, JSON.stringify(data), subject);
  }

  /** A plain WebSocket's message. */
  get plainFrame(): Buffer {
    this.#plainFrame ??= textFrame(`{"event":"${this.event}","data":${this.#json}}`);
    return this.#plainFrame;
  }

  /** A packet of Socket.IO (protocol 5, EVENT of the main namespace). */
  get packet(): string {
    return `2["${this.event}",${this.#json}]`;
  }

  /** The same in a message of Engine.IO (protocol 4) as a WebSocket's message. */
  get packetFrame(): Buffer {
    this.#packetFrame ??= textFrame(`4${this.packet}`);
    return this.#packetFrame;
  }
}
