import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../kit/errors.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import type { Connection } from '../../kit/sockets/connection.ts';
import type { Channel } from './channel.ts';
import type { Desk } from './desk.ts';
import type { Notice } from './notice.ts';
import { Tab } from './tab.ts';
import type { Wire } from './wire.ts';

const clientFrame = Type.Object({
  event: Type.String({ minLength: 1, maxLength: 100 }),
  data: Type.Optional(Type.Unknown()),
});
const malformedMax = 3;

export interface PlainSocketParts {
  readonly channel: Channel;
  readonly desk: Desk;
}

/**
 * Serves the channel on a plain WebSocket, with frames `{event, data}` both ways. The third frame that
 * is none closes it with 1007.
 */
export function servePlainSocket(
  connection: Connection,
  { channel, desk }: PlainSocketParts,
): void {
  const { identity, credential } = connection;
  const tab = new Tab({ identity, credential }, new PlainWire(connection));
  const leave = channel.add(tab, 'websocket');
  connection.signal.addEventListener('abort', leave, { once: true });
  let malformedCount = 0;
  connection.onMessage(async (text) => {
    const frame = readFrame(text);
    if (!(frame instanceof Fault)) {
      await receive(tab, frame, desk);
      return;
    }
    malformedCount += 1;
    desk.refuse(tab, frame);
    if (malformedCount === malformedMax) {
      connection.close(1007, `${malformedMax} malformed frames`);
    }
  });
}

interface ClientFrame {
  readonly event: string;
  readonly data?: unknown;
}

/** What a user says may take a model to understand, and a `stop` must not wait for it. */
async function receive(tab: Tab, { event, data }: ClientFrame, desk: Desk): Promise<void> {
  const obeyed = desk.obey(tab, event, data);
  if (event !== 'voice_command') await obeyed;
}

function readFrame(text: string): ClientFrame | Fault {
  try {
    const frame = parseJsonBody(text);
    if (Value.Check(clientFrame, frame)) return frame;
  } catch (error) {
    return Fault.from(error);
  }
  return new Fault('invalid', 'a frame must be {"event": …, "data": …}', {
    reason: 'validation_error',
  });
}

class PlainWire implements Wire {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  push(notice: Notice): boolean {
    return this.#connection.sendFrame(notice.plainFrame);
  }

  room(): Promise<void> {
    return this.#connection.room();
  }

  close(code: number, reason: string): void {
    this.#connection.close(code, reason);
  }
}
