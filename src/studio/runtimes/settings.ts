import { Type } from 'typebox';
import { setting, settingOr, type Settings } from '../../kit/config.ts';

const word = Type.String({ minLength: 1, maxLength: 1_024 });

/** The environment of the runtimes, a part of the studio's. */
export const runtimeSettings = {
  agentProcessesMax: settingOr(
    'STUDIO_AGENT_PROCESSES',
    { schema: Type.Integer({ minimum: 16, maximum: 100_000 }), or: 512 },
    'processes of one agent; containers and control groups count threads too',
  ),
  agentFilesMax: settingOr(
    'STUDIO_AGENT_FILES',
    { schema: Type.Integer({ minimum: 64, maximum: 1_000_000 }), or: 4_096 },
    'open files of each process of an agent',
  ),
  agentCgroup: setting(
    'STUDIO_CGROUP',
    Type.String({ pattern: '^/[^.]*$', maxLength: 1_024 }),
    'a control group that was handed to the studio for local agents, as a path such as `/ennead`',
  ),
  agentImage: setting(
    'STUDIO_AGENT_IMAGE',
    word,
    'the image of agents in containers; `ennead/agent:` and the version of the studio when absent',
  ),
  agentHost: setting(
    'STUDIO_AGENT_HOST',
    word,
    'by what name agents in containers reach this machine where an address of the suite is a loopback one; `host.docker.internal` for docker when absent',
  ),
  dockerHost: settingOr(
    'DOCKER_HOST',
    { schema: word, or: 'unix:///var/run/docker.sock' },
    'where the Docker daemon answers: `unix://PATH`, `tcp://HOST:PORT`, `https://…`',
  ),
  dockerCertificates: setting(
    'DOCKER_CERT_PATH',
    word,
    'a folder with ca.pem, cert.pem and key.pem for a Docker daemon over TLS',
  ),
  dockerNetwork: settingOr(
    'STUDIO_DOCKER_NETWORK',
    { schema: word, or: 'bridge' },
    'the network of agents in containers',
  ),
  kubeconfig: setting(
    'KUBECONFIG',
    word,
    'the file that names the Kubernetes cluster; `~/.kube/config`, else the own cluster, when absent',
  ),
  kubernetesNamespace: settingOr(
    'STUDIO_KUBERNETES_NAMESPACE',
    { schema: word, or: 'default' },
    'the namespace of agents in a cluster',
  ),
  kubernetesServiceAccount: setting(
    'STUDIO_KUBERNETES_SERVICE_ACCOUNT',
    word,
    'the service account of agents in a cluster; they get no token of it',
  ),
  kubernetesVolumeClaim: setting(
    'STUDIO_KUBERNETES_VOLUME_CLAIM',
    word,
    'a claim of the volume that holds the workspaces; agents in a cluster have no folder when absent',
  ),
} satisfies Settings;
