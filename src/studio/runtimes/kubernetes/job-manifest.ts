import type { V1EnvVar, V1Job, V1Secret } from '@kubernetes/client-node';
import type { ProgramIdentity, RuntimeSpec } from '../runtime.ts';

export interface JobSettings {
  readonly namespace: string;
  readonly image: string;
  /** Undefined is the namespace's default; the agent gets no token of it in any case. */
  readonly serviceAccount?: string | undefined;
  /** A claim of a volume that holds the root of all workspaces; undefined mounts none. */
  readonly volumeClaim?: string | undefined;
}

export const containerName = 'agent';
export const agentLabel = 'ennead.dev/agent';
export const jobFolder = '/workspace';

const identityFolder = '/var/run/ennead';
const identityKey = 'identity';
/** Not root, and owner of what it writes. */
const userId = 1000;
/** A job that the studio does not live to remove is removed by the cluster. */
const keptSeconds = 3_600;

/** A name that the cluster allows. */
export function jobName(agentId: string): string {
  return `ennead-${agentId.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`.slice(0, 63);
}

/** The job of an agent: one pod that is started once; what fails is started again by the studio. */
export function jobManifest(
  { agentId, resources }: RuntimeSpec,
  settings: JobSettings,
  /** Of the workspace, within the volume; undefined when it is not mounted. */
  subPath?: string,
): V1Job {
  const { image, serviceAccount, volumeClaim } = settings;
  const labels = { 'app.kubernetes.io/managed-by': 'ennead', [agentLabel]: agentId };
  const amounts = {
    cpu: `${Math.round(resources.cpu * 1_000)}m`,
    memory: String(resources.memory),
  };
  const hasFolder = subPath !== undefined && volumeClaim !== undefined;
  const workspaceMount = { name: 'workspaces', mountPath: jobFolder, subPath: subPath ?? '' };
  const workspaces = {
    name: 'workspaces',
    persistentVolumeClaim: { claimName: volumeClaim ?? '' },
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: jobName(agentId), labels },
    spec: {
      backoffLimit: 0,
      ttlSecondsAfterFinished: keptSeconds,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          ...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }),
          securityContext: unprivilegedUser,
          containers: [
            {
              name: containerName,
              image,
              env: variables(agentId),
              resources: { requests: amounts, limits: amounts },
              securityContext: withoutPrivilege,
              volumeMounts: [
                { name: 'identity', mountPath: identityFolder, readOnly: true },
                { name: 'tmp', mountPath: '/tmp' },
                ...(hasFolder ? [workspaceMount] : []),
              ],
            },
          ],
          volumes: [
            { name: 'identity', secret: { secretName: jobName(agentId), defaultMode: 0o440 } },
            { name: 'tmp', emptyDir: { sizeLimit: '256Mi' } },
            ...(hasFolder ? [workspaces] : []),
          ],
        },
      },
    },
  };
}

const unprivilegedUser = {
  runAsNonRoot: true,
  runAsUser: userId,
  runAsGroup: userId,
  fsGroup: userId,
  seccompProfile: { type: 'RuntimeDefault' },
};

const withoutPrivilege = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

function variables(agentId: string): V1EnvVar[] {
  return [
    { name: 'ENNEAD_AGENT_ID', value: agentId },
    { name: 'ENNEAD_IDENTITY_FILE', value: `${identityFolder}/${identityKey}` },
    { name: 'HOME', value: '/tmp' },
  ];
}

/** Who the agent is, for its pod alone; removed with the job that owns it. */
export function identitySecret(identity: ProgramIdentity, job: V1Job): V1Secret {
  const name = jobName(identity.agentId);
  const uid = job.metadata?.uid ?? '';
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      labels: { [agentLabel]: identity.agentId },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }],
    },
    type: 'Opaque',
    stringData: { [identityKey]: `${JSON.stringify(identity)}\n` },
  };
}
