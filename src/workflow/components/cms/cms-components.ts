import type { Component } from '../component.ts';
import { Drupal, type CmsOptions } from './drupal.ts';
import { createEntityCreate } from './entity-create.ts';
import { createEntityLoad } from './entity-load.ts';
import { createEntityUpdate } from './entity-update.ts';
import { createUserLogin } from './user-login.ts';

/** What works on the content of a CMS. */
export function cmsComponents(options: CmsOptions): readonly Component[] {
  const cms = new Drupal(options);
  return [
    createEntityCreate(cms),
    createEntityLoad(cms),
    createEntityUpdate(cms),
    createUserLogin(cms),
  ];
}
