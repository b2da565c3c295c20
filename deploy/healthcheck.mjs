// Whether what this container hosts answers: the console and services that are not hosted here do not count.
import { env, exit } from 'node:process';

const base = Number(env.ENNEAD_PORT_BASE ?? 7400);
const ports = Array.from({ length: 10 }, (_, place) => base + place);
const answers = await Promise.all(ports.map(ask));
exit(answers.includes('good') && !answers.includes('bad') ? 0 : 1);

async function ask(port) {
  try {
    const { ok } = await fetch(`http://127.0.0.1:${port}/health`);
    return ok ? 'good' : 'bad';
  } catch (error) {
    return error.cause?.code === 'ECONNREFUSED' ? 'absent' : 'bad';
  }
}
