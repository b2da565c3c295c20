import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';

/** A workflow's name, which leads to its editor; its id until the name is known. */
export function WorkflowLink({ id }: { readonly id: string }): ReactNode {
  const { data } = useAnswer('workflow', 'GET /api/v1/workflows/:id', { params: { id } });
  return <Link href={`/${id}`}>{data?.name ?? id}</Link>;
}
