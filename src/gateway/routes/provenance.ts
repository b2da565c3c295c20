import type { Call } from '../../kit/http/call.ts';
import type { ErrandAnswer, ErrandAsk } from '../exchange/errands/errand.ts';
import type { Provenance } from '../exchange/parts.ts';

/** What a caller asks, with who it is. */
export function toErrand<Request>(
  { identity, span, cancellation }: Pick<Call, 'identity' | 'span' | 'cancellation'>,
  request: Request,
): ErrandAsk<Request> {
  return {
    request,
    payer: { subject: identity.subject, name: identity.name },
    span,
    cancellation,
    startedAt: performance.now(),
  };
}

/** The same of what is no chat. */
export function tellErrand(
  call: Pick<Call, 'setHeader'>,
  { target, cost, attempts }: Pick<ErrandAnswer<unknown>, 'target' | 'cost' | 'attempts'>,
): void {
  const [provider, model] = [target.provider.name, target.model.name];
  tellProvenance(call, { provider, model, cost, attempts });
}

/** Says in the answer's headers where it came from. */
export function tellProvenance(
  call: Pick<Call, 'setHeader'>,
  { provider, model, cost, attempts, cache }: Provenance,
): void {
  call.setHeader('x-gateway-provider', provider);
  call.setHeader('x-gateway-model', headerText(model));
  call.setHeader('x-gateway-attempts', String(attempts));
  if (cost !== undefined) call.setHeader('x-gateway-cost', String(cost));
  if (!cache) return;
  call.setHeader('x-cache', cache.state);
  call.setHeader('x-cache-age', String(cache.ageSeconds));
  call.setHeader('x-cache-key', cache.key);
  if (cache.similarity !== undefined)
    call.setHeader('x-cache-similarity', cache.similarity.toFixed(4));
}

/** A header's value is printable ASCII (RFC 9110, section 5.5); an operator's names may be more. */
function headerText(name: string): string {
  return /^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name);
}
