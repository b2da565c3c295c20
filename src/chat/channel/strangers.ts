import type { IncomingMessage } from 'node:http';
import { Fault } from '../../kit/errors.ts';
import type { Guests } from '../../kit/sockets/guests.ts';
import { addressOf } from '../../kit/sockets/socket-gate.ts';
import {
  asksForScript,
  boundBodies,
  closeWith,
  sessionOf,
  type EngineConnection,
} from './engine-io.ts';

/** Of a body by polling, from somebody who is not known. */
const strangersBytesMax = 1024 * 1024;

/**
 * Those who have opened a connection of Socket.IO and not yet said who they are: so many of an address at a
 * time, and none for long.
 */
export class Strangers {
  readonly #guests: Guests;
  readonly #introductionMs: number;
  readonly #leaves = new WeakMap<IncomingMessage, () => void>();

  constructor(guests: Guests, introductionMs: number) {
    this.#guests = guests;
    this.#introductionMs = introductionMs;
  }

  /** Takes a place for a request that begins a connection; throws why there is none. */
  takePlace(request: IncomingMessage): void {
    if (sessionOf(request) !== '') return;
    // An answer as a script could be read by every page, which could then speak with our cookie.
    if (asksForScript(request)) throw new Fault('forbidden', 'no JSONP');
    const leave = this.#guests.keepStranger(addressOf(request));
    this.#leaves.set(request, leave);
    request.socket.once('close', leave);
  }

  /** The connection has begun. */
  note(engine: EngineConnection): void {
    boundBodies(engine, strangersBytesMax);
    const { request } = engine;
    const leave = request && this.#leaves.get(request);
    if (!leave) return;
    const close = () => closeWith(engine, 4401, 'no token came in time');
    const timer = setTimeout(close, this.#introductionMs).unref();
    const end = () => {
      clearTimeout(timer);
      leave();
    };
    this.#leaves.set(request, end);
    engine.once('close', end);
  }

  /** They have said it, or have gone. */
  leave(request: IncomingMessage): void {
    this.#leaves.get(request)?.();
    this.#leaves.delete(request);
  }
}
