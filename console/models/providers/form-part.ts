import type { ProviderForm } from './provider-settings.ts';

export interface FormPartProps {
  readonly form: ProviderForm;
  readonly onSet: (change: Partial<ProviderForm>) => void;
}
