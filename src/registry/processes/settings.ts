import { Type } from 'typebox';
import { settingOr } from '../../kit/config.ts';

/** What the operator says about running commands. */
export const processSettings = {
  stdioAllow: settingOr(
    'REGISTRY_STDIO_ALLOW',
    { schema: Type.String(), or: '' },
    'commands that may be run, one a line or ended by `;`: `command [argument …]`, `*` for one argument, `**` for the rest',
  ),
  childrenMax: settingOr(
    'REGISTRY_CHILDREN_MAX',
    { schema: Type.Integer({ minimum: 0, maximum: 10_000 }), or: 64 },
    "processes of stdio servers that run at once, each server's descendants not counted",
  ),
  childMemoryMb: settingOr(
    'REGISTRY_CHILD_MEMORY_MB',
    { schema: Type.Integer({ minimum: 16, maximum: 1_048_576 }), or: 2048 },
    'MiB that a stdio server and its descendants may use together before they are ended',
  ),
  frameMaxBytes: settingOr(
    'REGISTRY_FRAME_MAX_BYTES',
    { schema: Type.Integer({ minimum: 65_536, maximum: 268_435_456 }), or: 10_485_760 },
    'the largest message that a stdio server may send',
  ),
} as const;
