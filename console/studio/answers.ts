import type { Answer } from '../api/contracts.ts';

export type Workspace = Answer<'studio', 'GET /api/v1/workspaces/:id'>;
export type Member = Workspace['members'][number];
export type Role = Member['role'];
export type Settings = NonNullable<Workspace['settings']>;

export type StudioAgent = Answer<'studio', 'GET /api/v1/agents/:id'>;
export type LogLine = Answer<'studio', 'GET /api/v1/agents/:id/logs'>['logs'][number];

export type StudioTask = Answer<'studio', 'GET /api/v1/tasks/:taskId'>;
export type Artefact = NonNullable<StudioTask['artefacts']>[number];

/** A path of a workspace and what it holds. */
export type HeldFile = Answer<'studio', 'GET /api/v1/sync/snapshot'>['files'][number];
export type FileVersion = Answer<
  'studio',
  'GET /api/v1/workspaces/:id/files/*'
>['versions'][number];
