// Runs one bare loop, named by the argument, as often as its parent says.
import { hash, verify } from '@node-rs/argon2';
import { hashesAtOnce } from '../../src/auth/accounts/passwords.ts';
import { generateKeyPairSync, sign } from 'node:crypto';
import { serveOrders } from '../harness/measured-child.ts';

const claimsBytes = 900;
const passwordCost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

function prepareSigning() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const content = Buffer.alloc(claimsBytes, 'x');
  return (operations: number) => {
    for (let at = 0; at < operations; at += 1) sign('sha256', content, privateKey);
  };
}

async function prepareHashing() {
  const hashed = await hash('a password', passwordCost);
  return async (operations: number) => {
    let left = operations;
    const work = async () => {
      for (; left > 0; left -= 1) await verify(hashed, 'a password');
    };
    await Promise.all(Array.from({ length: hashesAtOnce() }, work));
  };
}

const name = process.argv[2] ?? '';
const prepare = { signature: prepareSigning, argon2: prepareHashing }[name];
if (!prepare) throw new Error(`there is no loop ${name}`);
serveOrders({}, await prepare());
