import { request } from 'undici';
import { createClient, type Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import { modelsContract } from '../../models/contract.ts';
import { readJsonLines } from '../../models/inference/external/lines.ts';
import { isSameName } from '../../models/library/model-name.ts';
import type { PullProgress } from '../../models/library/pull/puller.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { tracer } from '../operator/auth-session.ts';
import { logIn } from '../operator/login.ts';
import type { ModelAccess, ModelPlace } from './model-access.ts';
import { toListed, toShown, type ShownModel } from './model-listing.ts';

/** The models of the running suite, by its API and with the operator's identity. */
export async function openRunningModels(
  place: ModelPlace,
  options: AdministrationOptions,
): Promise<ModelAccess> {
  const login = await logIn(place, options);
  const { token, forgetToken } = login;
  const client = createClient(modelsContract, {
    baseUrl: place.url,
    tracer,
    token,
    ...(forgetToken ? { forgetToken } : {}),
  });
  return {
    list: async () => (await client.ollamaTags({})).models.map(toListed),
    show: (name) => show(client, name),
    delete: async (name) => {
      await client.ollamaDelete({ body: { model: name } });
    },
    pull: (name) => followed(pull(`${place.url}/api/pull`, name, token), place.url),
    [Symbol.asyncDispose]: () => login[Symbol.asyncDispose](),
  };
}

async function show(client: Client<typeof modelsContract>, name: string): Promise<ShownModel> {
  const shown = await client.ollamaShow({ body: { model: name } });
  const { models } = await client.ollamaTags({});
  const tag = models.find((one) => isSameName(one.name, name));
  const { details, modified_at } = shown;
  const gone = { name, model: name, size: 0, digest: '', details, modified_at, removable: false };
  return toShown(tag ?? gone, shown);
}

/** A pull of a service that may end or be killed meanwhile. */
async function* followed(
  progress: AsyncGenerator<PullProgress>,
  url: string,
): AsyncGenerator<PullProgress> {
  try {
    yield* progress;
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    const message = `models at ${url} has gone meanwhile; the same pull goes on where it was`;
    throw new Fault('unavailable', message, { cause });
  }
}

async function* pull(
  url: string,
  name: string,
  token: () => Promise<string>,
): AsyncGenerator<PullProgress> {
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await token()}` },
    body: JSON.stringify({ model: name }),
    // The service gives up on a source that has fallen silent.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  for await (const line of readJsonLines(body as AsyncIterable<Uint8Array>)) {
    const { error, ...progress } = line as PullProgress & { readonly error?: string };
    if (error !== undefined) throw new Fault(refusalOf(statusCode), error);
    yield progress;
  }
}

/** An error within the stream came from the source that was pulled from. */
function refusalOf(statusCode: number) {
  return statusCode === 200 ? 'upstream' : Fault.codeOf(statusCode);
}
