import { allowInsecureRequests, customFetch, discovery } from 'openid-client';
import type { Egress } from '../../kit/egress/egress.ts';
import { badSetting } from './addresses.ts';
import type { WantedProvider } from './provider-check.ts';
import { createProviderFetch } from './provider-fetch.ts';

/**
 * Fills in from the issuer's own metadata how its tokens are checked; throws `invalid_provider` when
 * the metadata cannot be read or names another issuer (OpenID Connect Discovery, section 4.3).
 */
export async function discoverProvider(
  wanted: WantedProvider,
  egress: Egress,
): Promise<WantedProvider> {
  if (wanted.issuer === undefined) return wanted;
  const metadata = await readMetadata(wanted.issuer, egress);
  if (metadata.issuer !== wanted.issuer) throw badSetting('issuer', 'names another issuer');
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const isPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
  const jwksURL = wanted.jwksURL ?? metadata.jwks_uri;
  if (jwksURL === undefined) throw badSetting('jwksURL', 'is needed: the metadata has none');
  const algorithms = metadata.id_token_signing_alg_values_supported;
  return {
    ...wanted,
    jwksURL,
    tokenAuthentication: isPost ? 'post' : 'basic',
    ...(algorithms ? { idTokenAlgorithms: algorithms } : {}),
  };
}

async function readMetadata(issuer: string, egress: Egress) {
  try {
    const found = await discovery(new URL(issuer), 'metadata', undefined, undefined, {
      [customFetch]: createProviderFetch({ egress, dropsIdToken: false }),
      execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
    });
    return found.serverMetadata();
  } catch (error) {
    throw badSetting('issuer', 'gives no metadata that names it as the issuer', error);
  }
}
