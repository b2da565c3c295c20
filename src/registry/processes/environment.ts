import type { Environment } from '../../kit/config.ts';
import { Fault } from '../../kit/errors.ts';

/** Variables as a connection gives them. */
export type GivenVariables = Readonly<Record<string, string>>;

const inherited = new Set(['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG']);

/**
 * What a server's process sees: a few harmless variables of this process, none of our settings or
 * secrets, and on top what the connection gives.
 */
export function buildEnvironment(
  base: Environment,
  given: GivenVariables = {},
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined || !(inherited.has(name) || name.startsWith('LC_'))) continue;
    // A shell function, as old shells export them.
    if (!value.startsWith('()')) environment[name] = value;
  }
  return { ...environment, ...given };
}

/**
 * Refuses variables by which whoever gives them decides what code runs: the operator allowed a
 * command, not every command that it can be turned into. Throws Fault `invalid`
 * (`variable_not_allowed`, detail `{variable}`).
 */
export function checkGivenVariables(given: GivenVariables = {}): void {
  for (const [name, value] of Object.entries(given)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw refuse(name, 'is no name for an environment variable');
    }
    if (decidesCode.test(name)) throw refuse(name, 'decides what code runs and cannot be given');
    if (value.includes('\0')) throw refuse(name, 'holds a NUL');
  }
}

/** By who reads them; `*` stands for anything. */
const deciding = {
  system: 'PATH HOME TZDIR XDG_CONFIG_* XDG_DATA_* XDG_CACHE_*',
  // The loader and the C library take code or whole files from them (unsecvars.h of glibc).
  loader:
    'LD_* DYLD_* GCONV_PATH GETCONF_DIR GLIBC_TUNABLES HOSTALIASES LOCALDOMAIN LOCPATH MALLOC_TRACE NIS_PATH NLSPATH RESOLV_HOST_CONF RES_OPTIONS',
  shells: 'SHELL BASH_ENV BASH_FUNC_* ENV SHELLOPTS BASHOPTS IFS PS4 PROMPT_COMMAND ZDOTDIR',
  // Programs start what they name.
  started: 'EDITOR VISUAL PAGER BROWSER LESSOPEN LESSCLOSE SSH_ASKPASS SUDO_ASKPASS GIT_*',
  node: 'NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_COMPILE_CACHE NODE_V8_COVERAGE NODE_REDIRECT_WARNINGS NPM_CONFIG_* YARN_* PNPM_* COREPACK_* BUN_INSTALL BUN_OPTIONS BUN_CONFIG_* DENO_DIR DENO_CERT DENO_TLS_CA_STORE',
  python: 'PYTHON* PIP_* UV_*',
  perl: 'PERL5* PERLLIB PERLIO_DEBUG',
  ruby: 'RUBYOPT RUBYLIB GEM_* BUNDLE_*',
  java: 'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_HOME CLASSPATH',
  dotnet:
    'DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE DOTNET_ROOT* DOTNET_GCNAME DOTNET_GCPATH DOTNET_CLI_HOME CORECLR_* COR_ENABLE_PROFILING COR_PROFILER* COMPLUS_* NUGET_PACKAGES NUGET_HTTP_CACHE_PATH NUGET_*PLUGIN*',
  lua: 'LUA_PATH* LUA_CPATH* LUA_INIT*',
  php: 'PHPRC PHP_INI_SCAN_DIR',
  go: 'GOFLAGS GOPROXY GOSUMDB GONOSUMDB GOINSECURE GOTOOLCHAIN GOENV',
  rust: 'CARGO_* RUSTUP_* RUSTC RUSTC_* RUSTFLAGS',
  // Where a container runs, and which helper of the registry's user gives its credentials.
  docker:
    'DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT DOCKER_CERT_PATH DOCKER_TLS* DOCKER_CLI_* BUILDKIT_HOST CONTAINER_HOST CONTAINERS_*',
  // Whom downloads are believed, and where keys of connections are written down.
  trust:
    'OPENSSL_* SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CURL_HOME KRB5_CONFIG',
  // By it the registry knows the processes that it started.
  own: 'ENNEAD_REGISTRY_PROCESS',
} as const;
const decidesCode = new RegExp(
  `^(?:${Object.values(deciding).join(' ').replaceAll('*', '.*').replaceAll(' ', '|')})$`,
  'i',
);

function refuse(variable: string, why: string): Fault {
  return new Fault('invalid', `the environment variable ${variable} ${why}`, {
    reason: 'variable_not_allowed',
    detail: { variable },
  });
}
