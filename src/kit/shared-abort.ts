import { setMaxListeners } from 'node:events';

/** An AbortController that any number may listen to: Node.js takes more than ten for a leak otherwise. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
