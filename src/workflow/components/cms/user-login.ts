import { Type } from 'typebox';
import type { Component } from '../component.ts';
import { defineComponent, type Marker } from '../schema.ts';
import type { Drupal } from './drupal.ts';

const secret = 'secret' satisfies Marker;

/** Logs a user of the CMS in. */
export function createUserLogin(cms: Pick<Drupal, 'login'>): Component {
  return defineComponent({
    name: 'UserLogin',
    group: 'cms',
    title: 'Log in',
    description:
      'Logs a user of the CMS in and gives the token. The password is kept out of journals, events and logs; a wrong one fails as `LOGIN_FAILED`.',
    input: Type.Object(
      {
        username: Type.String({ minLength: 1, maxLength: 256 }),
        password: Type.String({ minLength: 1, maxLength: 1_024, 'x-ennead': secret }),
      },
      {
        examples: [{ username: '{{ inputs.login.name }}', password: '{{ inputs.login.secret }}' }],
      },
    ),
    output: Type.Object({
      token: Type.String({ 'x-ennead': secret }),
      user: Type.Object({ uid: Type.String(), name: Type.String() }),
    }),
    effect: 'repeatable',
    typicalMs: 300,
    run: async (credentials, context) => ({
      kind: 'done',
      output: await cms.login(credentials, context),
    }),
  });
}
