import { expect, test } from 'vitest';
import { serviceNames } from './service-names.ts';
import { services } from './services.ts';

test('the names of the services are those of their contracts, in the order of the ports', () => {
  expect(serviceNames).toEqual(services.map(({ contract }) => contract.name));
});
