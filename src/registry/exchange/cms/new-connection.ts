import { Fault } from '../../../kit/errors.ts';
import { protocols } from '../../connections/connection.ts';
import type { CmsRecord } from './cms-record.ts';
import { readEndpoint } from '../given-endpoint.ts';
import { listOf, recordOf } from '../json-values.ts';
import type { NewConnection } from '../registrar.ts';
import { toSafeName } from '../safe-name.ts';
import { metadataOfRecord } from './sync-fields.ts';

/** What a record of a CMS is registered as; throws `invalid` when it does not tell enough. */
export function newConnectionOf({ name: given, fields }: CmsRecord): NewConnection {
  const name = toSafeName(given);
  if (!name) throw new Fault('invalid', 'the name holds no letter or digit');
  const protocol = protocols.find((one) => one === fields['protocol']);
  const found = protocol && readEndpoint(protocol, recordOf(fields['endpoint']), new Map());
  if (!protocol || !found) throw new Fault('invalid', 'the record tells no endpoint');
  if ('missing' in found) {
    throw new Fault('invalid', `the endpoint lacks ${found.missing.join(', ')}`);
  }
  const { endpoint } = found;
  const names = listOf(fields['capabilities']).filter((one) => typeof one === 'string');
  const capabilities = names.map((one) => ({ name: one }));
  const metadata = metadataOfRecord(fields);
  return { name, type: 'server', protocol, endpoint, capabilities, metadata };
}
