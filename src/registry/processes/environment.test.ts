import { expect, test } from 'vitest';
import { buildEnvironment, checkGivenVariables } from './environment.ts';
import { OutputTail } from './output-tail.ts';

test('a process sees a few harmless variables and what its connection gives', () => {
  const base = {
    PATH: '/bin',
    HOME: '/root',
    LANG: 'C',
    LC_ALL: 'C.UTF-8',
    TERM: '() { :; }; echo owned',
    ENNEAD_SECRET: 's',
    DATABASE_URL: 'postgres://u:p@h/d',
    LD_PRELOAD: '/tmp/x.so',
    NODE_OPTIONS: '--require /tmp/x',
    REGISTRY_STDIO_ALLOW: 'x',
    USER: undefined,
  };
  expect(buildEnvironment(base, { API_KEY: 'k', LANG: 'de' })).toEqual({
    PATH: '/bin',
    HOME: '/root',
    LANG: 'de',
    LC_ALL: 'C.UTF-8',
    API_KEY: 'k',
  });
});

test('a variable that decides what code runs is refused, in any case', () => {
  const names = [
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'NODE_OPTIONS',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'BASH_ENV',
    'ENV',
    'GIT_SSH_COMMAND',
    'PERL5OPT',
    'RUBYOPT',
    'npm_config_registry',
    'NPM_CONFIG_REGISTRY',
    'PATH',
    'Path',
    'HOME',
    'XDG_CONFIG_HOME',
    'XDG_CACHE_HOME',
    'GCONV_PATH',
    'OPENSSL_CONF',
    'DOCKER_HOST',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'NODE_EXTRA_CA_CERTS',
    'SSLKEYLOGFILE',
    'SSL_CERT_FILE',
    'LUA_PATH',
    'LUA_CPATH_5_4',
    'CORECLR_PROFILER_PATH',
    'DOTNET_ROOT_X64',
    'ENNEAD_REGISTRY_PROCESS',
  ];
  for (const name of names) {
    expect(() => checkGivenVariables({ [name]: 'x' }), name).toThrow(
      expect.objectContaining({
        code: 'invalid',
        reason: 'variable_not_allowed',
        detail: { variable: name },
      }),
    );
  }
});

test('names and values that the system cannot take are refused', () => {
  for (const name of ['', 'A B', 'A=B', '1A', 'Ä']) {
    expect(() => checkGivenVariables({ [name]: 'x' }), name).toThrow('no name');
  }
  expect(() => checkGivenVariables({ A: 'x\0y' })).toThrow('NUL');
});

test('ordinary variables are accepted', () => {
  const given = {
    API_KEY: 'a\nb',
    NODE_ENV: 'production',
    ENVIRONMENT: 'x',
    MY_PATH: '/x',
    HTTPS_PROXY: 'http://proxy.test:3128',
    DOTNET_ENVIRONMENT: 'Production',
    TMPDIR: '/var/tmp',
  };
  expect(() => checkGivenVariables(given)).not.toThrow();
  expect(() => checkGivenVariables()).not.toThrow();
});

test('what is shown of standard error holds no value of a secret variable', () => {
  const tail = new OutputTail({ API_KEY: 'hunter2', DEBUG: 'yes', URL: 'https://u:p@host/long' });
  tail.add(Buffer.from('x'.repeat(70_000)));
  tail.add(Buffer.from('key is hun'));
  tail.add(Buffer.from('ter2, debug is yes, url is https://u:p@host/long'));
  expect(tail.text().endsWith('key is ***, debug is yes, url is ***')).toBe(true);
  expect(tail.text().length).toBe(4096);
});

test('a secret that straddles the edge of what is shown does not show a part of itself', () => {
  const secret = 's3cr3t'.repeat(20);
  const tail = new OutputTail({ TOKEN: secret });
  tail.add(Buffer.from(`${secret}${'x'.repeat(4096 - 40)}`));
  expect(tail.text()).not.toContain('s3cr3t');
});
