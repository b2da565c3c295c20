import type { HttpServer } from '../../kit/http/server.ts';
import { openTogether } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import { Channel, type ChannelParts } from './channel.ts';
import { clientEventHandlers, type ClientEventParts } from './client-events.ts';
import { Desk } from './desk.ts';
import { openSocketIo } from './socket-io.ts';

export interface DoorParts extends ChannelParts, Omit<ClientEventParts, 'channel'> {
  readonly turns: ChannelParts['turns'] & ClientEventParts['turns'];
  readonly conversations: ChannelParts['conversations'] & ClientEventParts['conversations'];
  readonly http: HttpServer;
  /** How long a connection of Socket.IO may take to say whose it is; ten seconds when absent. */
  readonly introductionMs?: number | undefined;
  readonly log: Log;
}

/** The channel with both ways to it: Socket.IO is open, plain WebSockets are to be handed over. */
export interface Doors extends AsyncDisposable {
  readonly channel: Channel;
  readonly desk: Desk;
}

/** Opens the channel, before the server listens. */
export function openDoors(parts: DoorParts): Promise<Doors> {
  const { http, introductionMs, log } = parts;
  return openTogether(log, async (lifetime) => {
    const channel = new Channel(parts);
    lifetime.defer('the channel', () => channel[Symbol.dispose]());
    const desk = new Desk({
      handlers: clientEventHandlers({ ...parts, channel }),
      takeCall: (identity) => http.sockets.guests.takeCall(identity),
      log,
    });
    lifetime.own('Socket.IO', await openSocketIo({ http, channel, desk, introductionMs }));
    return { channel, desk };
  });
}
