// What the authentication service costs: validation, refresh, login, a known token; and whether a login
// or an API key tells by its time who exists.
import { measureTokens } from './foundation/tokens.ts';
import { chosenDepth } from './harness/depth.ts';
import { measureKeyTiming } from './auth/key-timing.ts';
import { measureLogin } from './auth/login.ts';
import { measureLoginTiming } from './auth/login-timing.ts';
import { measureRefresh } from './auth/refresh.ts';
import { measureValidation } from './auth/validation.ts';
import { printReport } from './harness/report.ts';

const depth = chosenDepth();

await printReport([
  ['validation', () => measureValidation(depth)],
  ['refresh', () => measureRefresh(depth)],
  ['login', () => measureLogin(depth)],
  ['the time of a refused login', () => measureLoginTiming(depth)],
  ['the time of a refused API key', () => measureKeyTiming(depth)],
  ['tokens', () => measureTokens(depth)],
]);
