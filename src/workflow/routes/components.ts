import type { TSchema } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Component, ComponentGroup, ComponentTable } from '../components/component.ts';
import {
  componentGroups,
  type componentRoutes as routes,
  type ComponentAnswer,
} from '../schemas/components.ts';

export type ComponentHandlers = {
  readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]>;
};

/** The edge of what flows are made of; the components are described once. */
export function componentHandlers(table: ComponentTable): ComponentHandlers {
  const answers = componentGroups.flatMap((group) =>
    [...table.values()].filter((one) => one.group === group).map(toAnswer),
  );
  const byName = new Map(answers.map((answer) => [answer.name, answer]));
  return {
    listComponents: ({ query }) => {
      const components = answers.filter(({ group }) => (query.group ?? group) === group);
      return { components, groups: toGroups(components), total: components.length };
    },
    getComponent: ({ params }) => {
      const answer = byName.get(params.name);
      if (answer) return answer;
      throw new Fault('not_found', 'there is no such component', { reason: 'component_not_found' });
    },
  };
}

const titles: Readonly<Record<ComponentGroup, string>> = {
  ai: 'AI',
  cms: 'CMS',
  tools: 'Tool protocol',
  logic: 'Logic',
  data: 'Data',
};
const timeoutDefault = 60_000;

function toGroups(components: readonly ComponentAnswer[]) {
  return componentGroups.flatMap((name) => {
    const members = components.filter(({ group }) => group === name);
    const names = members.map((member) => member.name);
    return names.length > 0 ? [{ name, title: titles[name], components: names }] : [];
  });
}

function toAnswer(component: Component): ComponentAnswer {
  const { name, group, title, description, effect, typicalMs, control, handles } = component;
  const input = readObject(component.input);
  const hasOwnHandles = typeof handles === 'function';
  return {
    name,
    group,
    title,
    description,
    inputs: input.properties ?? {},
    required: [...(input.required ?? [])],
    outputs: readObject(component.output).properties ?? {},
    examples: [...(input.examples ?? [])],
    handles: [...(typeof handles === 'function' ? handles({}) : (handles ?? []))],
    hasOwnHandles,
    effect,
    ...(control && { control }),
    needsCallerToken: component.callerToken === 'needed',
    ...(component.permission && { permission: [...component.permission] }),
    typicalMs,
    ...(control || component.parks ? {} : { timeout: component.timeoutMs ?? timeoutDefault }),
  };
}

interface ObjectSchema {
  readonly properties?: Record<string, Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly examples?: readonly Record<string, unknown>[];
}

/** What an object's schema says; of any other kind, nothing of this is there. */
function readObject(schema: TSchema): ObjectSchema {
  return schema;
}
