import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Log } from '../../kit/log.ts';
import { findFlaws } from '../../kit/schema-flaws.ts';
import { codeOf, describeFault } from '../envelope.ts';
import { clientEvents, type ClientEvents } from '../schemas/channel.ts';
import { Notice } from './notice.ts';
import type { Tab } from './tab.ts';

/** What each event of a client does, and what its acknowledgement says besides `success`. */
export type ClientEventHandlers = {
  readonly [K in keyof ClientEvents]: (tab: Tab, data: ClientEvents[K]) => Promise<object> | object;
};

export interface DeskOptions {
  readonly handlers: ClientEventHandlers;
  /** Counts an event as a call; throws `exhausted`. */
  readonly takeCall: (identity: Identity) => void;
  readonly log: Log;
}

/** What an event came to, as its acknowledgement says it. */
export type Outcome = { readonly success: boolean } & Readonly<Record<string, unknown>>;

type EventName = keyof ClientEvents;
type AnyHandler = (tab: Tab, data: unknown) => Promise<object> | object;

/** Takes the events of all sockets, whatever their protocol: checks them and has them done. */
export class Desk {
  readonly #options: DeskOptions;
  readonly #validators = new Map<string, { schema: TSchema; validator: Validator }>();

  constructor(options: DeskOptions) {
    this.#options = options;
    for (const [name, schema] of Object.entries(clientEvents)) {
      this.#validators.set(name, { schema, validator: Compile<TSchema>(schema) });
    }
  }

  /** Does what an event asks for; a refusal is told to its socket as `error`, and answered. */
  async obey(tab: Tab, event: string, data: unknown): Promise<Outcome> {
    try {
      this.#options.takeCall(tab.caller.identity);
      // The names of the validators are those of the handlers, and the data was checked for one.
      const handle = this.#options.handlers[this.#check(event, data)] as AnyHandler;
      return { success: true, ...(await handle(tab, data)) };
    } catch (error) {
      return this.refuse(tab, error, event);
    }
  }

  /** Tells a socket of a refusal in the service's own words. */
  refuse(tab: Tab, error: unknown, event?: string): Outcome {
    const outcome = this.word(error, event);
    tab.tell(Notice.of('error', outcome));
    return outcome;
  }

  /** A refusal in the service's own words; what is our fault is logged. */
  word(error: unknown, event?: string): Outcome {
    const fault = Fault.from(error);
    if (fault.code === 'internal') {
      this.#options.log.error({ err: fault.cause ?? fault, event }, 'internal error');
    }
    return {
      code: codeOf(fault),
      ...describeFault(fault),
      success: false,
      ...(event === undefined ? {} : { event: event.slice(0, nameShownMax) }),
    };
  }

  #check(event: string, data: unknown): EventName {
    const known = this.#validators.get(event);
    if (!known) {
      const names = [...this.#validators.keys()].join(', ');
      throw new Fault('invalid', `there is no such event; there are ${names}`, {
        reason: 'unknown_event',
      });
    }
    const { schema, validator } = known;
    if (validator.Check(data)) return event as EventName;
    throw validationFault(findFlaws(validator.Errors(data), schema));
  }
}

const nameShownMax = 100;

function validationFault(found: ReturnType<typeof findFlaws>): Fault {
  const errors = found.map(({ place, message }) => ({
    path: `data${place.replaceAll('/', '.')}`,
    message,
  }));
  const [first] = errors;
  const message = first ? `${first.path} ${first.message}` : 'data is not valid';
  const param = first?.path.replace(/^data\.?/, '') ?? '';
  return new Fault('invalid', message, {
    reason: 'validation_error',
    detail: { errors, param: found[0]?.missing ?? param },
  });
}
