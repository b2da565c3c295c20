import { resolve } from 'node:path';
import { addressBook } from '../../addresses.ts';
import { authContract } from '../../auth/contract.ts';
import { createClient, type Client } from '../../kit/client.ts';
import { processEnvironment, readConfig } from '../../kit/config.ts';
import type { Contract } from '../../kit/contract.ts';
import { Fault } from '../../kit/errors.ts';
import { addressSetting, suiteSettings } from '../../suite-settings.ts';
import type { AdministrationOptions } from './work.ts';
import { tracer, type SessionUse } from './auth-session.ts';
import { logIn, type Login, type LoginPlace } from './login.ts';

/** Where the settings say that a service is, and what logging in for it takes. */
export interface ServicePlace extends LoginPlace {
  readonly url: string;
  /** True when it belongs to a process on another machine, whose folder is not here. */
  readonly isElsewhere: boolean;
}

/** A service of a running suite, with the operator's identity. */
export interface ServiceAccess<C extends Contract> extends AsyncDisposable {
  readonly client: Client<C>;
  readonly url: string;
  readonly token: Login['token'];
  readonly forgetToken: Login['forgetToken'];
  /** Says what to do about a service that is not there; all else stays as it is. */
  explain(error: unknown): unknown;
}

/** Reads the few settings of a client of one service. */
export function readServicePlace(service: string): ServicePlace {
  const groups = {
    suite: suiteSettings,
    addresses: { auth: addressSetting(authContract.name), own: addressSetting(service) },
  };
  const { suite, addresses } = readConfig(groups, processEnvironment());
  const addressOf = (name: string) => (name === service ? addresses.own : addresses.auth);
  const book = addressBook({ suite, addressOf }, []);
  return {
    suite,
    url: book.urlOf(service),
    authUrl: book.urlOf(authContract.name),
    dataFolder: resolve(suite.dataFolder),
    isElsewhere: addresses.own !== undefined,
  };
}

/** Finds the service that the settings name; nothing is asked of it yet. */
export async function accessService<C extends Contract>(
  contract: C,
  options: AdministrationOptions,
  use: SessionUse = {},
): Promise<ServiceAccess<C>> {
  const place = readServicePlace(contract.name);
  const login = await logIn(place, options, use);
  const { token, forgetToken } = login;
  const { url } = place;
  const client = createClient(contract, {
    baseUrl: url,
    tracer,
    token,
    ...(forgetToken ? { forgetToken } : {}),
  });
  return {
    client,
    url,
    token,
    forgetToken,
    explain: (error) => explainAway(error, { name: contract.name, url }),
    [Symbol.asyncDispose]: () => login[Symbol.asyncDispose](),
  };
}

function explainAway(
  error: unknown,
  { name, url }: { readonly name: string; readonly url: string },
): unknown {
  const isAway = error instanceof Fault && error.code === 'unavailable' && !error.reason;
  if (!isAway) return error;
  const sentence = `${name} cannot be reached at ${url}: is the suite running? Start it with "ennead up"`;
  return new Fault('unavailable', sentence, { cause: error });
}
