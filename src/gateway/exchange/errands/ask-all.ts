import { Cancellation } from '../../../kit/cancellation.ts';
import { Fault } from '../../../kit/errors.ts';

/** How many of the calls of one request are on their way at a time. */
const atOnceMax = 4;

/**
 * Makes several calls for one request; answers what they brought, in their order. The first that
 * fails ends all others, and its error is thrown once all of them are over.
 */
export async function askAll<Call, Made>(
  calls: readonly Call[],
  ask: (call: Call, cancellation: Cancellation) => Promise<Made>,
  caller: Cancellation,
): Promise<readonly Made[]> {
  const own = new Cancellation();
  const leave = () => own.cancel(caller.reason ?? unwanted());
  caller.onCancel(leave);
  const made: Made[] = [];
  // One for all: each call is taken once.
  const waiting = calls.entries();
  let failed: { readonly error: unknown } | undefined;
  const work = async () => {
    try {
      for (const [at, call] of waiting) {
        own.throwIfCancelled();
        made[at] = await ask(call, own);
      }
    } catch (error) {
      failed ??= { error };
      own.cancel(unwanted());
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, calls.length) }, work));
  caller.offCancel(leave);
  if (failed) throw failed.error;
  return made;
}

function unwanted(): Fault {
  return new Fault('cancelled', 'another part of the request failed');
}
