import { chatSchemaText } from './chat/graphql/schema-text.ts';
import { describeSettings } from './kit/config.ts';
import { describeContract } from './kit/openapi.ts';
import { services } from './services.ts';
import { settingGroups } from './settings.ts';

/** What is derived from contracts and settings, by its path in the repository. */
export function generatedFiles(): Readonly<Record<string, string>> {
  const documents = services.map(({ contract }) => [
    `gen/openapi/${contract.name}.json`,
    `${JSON.stringify(describeContract(contract), null, 2)}\n`,
  ]);
  return {
    ...(Object.fromEntries(documents) as Record<string, string>),
    'gen/graphql/chat.graphql': chatSchemaText,
    'gen/config.md': describeSettings(settingGroups()),
  };
}
