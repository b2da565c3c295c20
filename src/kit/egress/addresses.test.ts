import { expect, test } from 'vitest';
import { createAddressCheck } from './addresses.ts';

const strict = createAddressCheck({ allow: [], isLoopbackAllowed: false });
const open = createAddressCheck({ allow: ['0.0.0.0/0', '::/0'], isLoopbackAllowed: true });

const metadata = [
  '169.254.169.254',
  '169.254.0.23',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::ffff:0:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  '::169.254.169.254',
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
];
const never = ['0.0.0.0', '0.1.2.3', '::', '255.255.255.255', '224.0.0.1', 'ff02::1', 'fe80::1'];
const internal = [
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '203.0.113.9',
  '240.0.0.1',
  'fd00::1',
  'fec0::1',
  '2001:db8::1',
  '2001::1',
  '100::1',
  '5f00::1',
  '4000::1',
  '64:ff9b:1::1',
  '::ffff:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '2002:a00:1::',
  '::10.0.0.1',
];
const loopback = ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'];
const carriedLoopback = ['2002:7f00:1::', '::ffff:0:7f00:1', '::127.0.0.1'];
const noAddress = ['', 'localhost', '0x7f.1', '2130706433', '010.0.0.1', '127.1', '1.2.3.4/32'];

test.each([...metadata, ...never])('%s is refused even when every range is allowed', (address) => {
  expect(open(address)).toBe(false);
});

test.each(noAddress)('"%s" is no IP address and is refused', (text) => {
  expect(open(text)).toBe(false);
});

test.each([...internal, ...loopback, ...carriedLoopback])('%s is refused by default', (address) => {
  expect(strict(address)).toBe(false);
});

test.each([
  '1.1.1.1',
  '172.32.0.1',
  '2606:4700::1111',
  '::ffff:1.1.1.1',
  '64:ff9b::1.1.1.1',
  '2002:101:101::',
])('%s is public and is allowed', (address) => {
  expect(strict(address)).toBe(true);
});

test.each([...loopback, ...carriedLoopback])('%s is loopback and follows its switch', (address) => {
  expect(createAddressCheck({ allow: [], isLoopbackAllowed: true })(address)).toBe(true);
});

test('an allowed range opens itself, in whatever form, and nothing beside it', () => {
  const check = createAddressCheck({
    allow: ['10.20.0.0/16', 'fd12::/32'],
    isLoopbackAllowed: false,
  });
  for (const address of ['10.20.3.4', '::ffff:10.20.3.4', '64:ff9b::10.20.3.4', 'fd12::9']) {
    expect(check(address)).toBe(true);
  }
  for (const address of ['10.21.0.1', '10.0.0.1', 'fd13::9', '127.0.0.1', '169.254.169.254']) {
    expect(check(address)).toBe(false);
  }
});

test.each(['10.0.0.0', '10.0.0.0/33', '10/8', 'example.com/8', '::/129', '10.0.0.0/8/8', ''])(
  'the range "%s" is refused when the policy is read',
  (range) => {
    const create = () => createAddressCheck({ allow: [range], isLoopbackAllowed: false });
    expect(create).toThrow(expect.objectContaining({ code: 'invalid' }));
  },
);
