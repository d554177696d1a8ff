import { expect, test, vi } from 'vitest'
import { clientEnvironment, joinedPaths } from '../../../src/command/environment/client.ts'
import { loginEnvironment, userShell } from '../../../src/command/environment/login.ts'
import { withoutSecrets } from '../../../src/command/environment/sanitise.ts'
import { daemonEnvironment } from '../../../src/daemon/base-environment.ts'

test('keys and passwords of the daemon are left out, and other variables stay', () => {
  const secrets = [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'GITHUB_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_ACCESS_KEY_ID',
    ...[
      'NPM_TOKEN',
      'DB_PASSWORD',
      'PGPASSWORD',
      'DATABASE_URL',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'MY_SECRET',
    ],
    'GH_PAT',
    'HF_TOKEN',
    'STRIPE_SECRET_KEY',
    'SSH_PRIVATE_KEY',
    'SENTRY_DSN',
    'OPENROUTER_KEY',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  ]
  const plain = [
    ...[
      'PATH',
      'HOME',
      'LANG',
      'TERM',
      'NODE_OPTIONS',
      'EDITOR',
      'TZ',
      'SHELL',
      'USER',
      'KEYBOARD',
      'MONKEY_ISLAND',
    ],
    'AUTHOR',
    'PATTERN',
    'SSH_AUTH_SOCK',
    'XDG_SESSION_ID',
    'PKG_CONFIG_PATH',
    'OTEL_SERVICE_NAME',
  ]
  const env = Object.fromEntries([...secrets, ...plain].map((name) => [name, 'x']))
  expect(Object.keys(withoutSecrets(env)).sort()).toEqual([...plain].sort())
  expect(withoutSecrets(env, ['GITHUB_TOKEN'])).toHaveProperty('GITHUB_TOKEN', 'x')
})

test('of every shell the whole environment is read, also where it has the last word of a command in a variable', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `REEVE_TEST_OF_LOGIN_${index}`)
  for (const name of names) process.env[name] = 'there'
  try {
    expect(await loginEnvironment('/bin/sh')).toMatchObject(
      Object.fromEntries(names.map((name) => [name, 'there'])),
    )
  } finally {
    for (const name of names) delete process.env[name]
  }
})

test('a shell’s start-up noise is no part of its environment', async () => {
  const env = await loginEnvironment('/bin/bash')
  expect(env['PATH']).toContain('/bin')
  expect(Object.keys(env).every((name) => /^[^=\s]+$/.test(name))).toBe(true)
  expect(env).not.toHaveProperty('SHLVL')
})

test('a missing shell is an error', async () => {
  await expect(loginEnvironment('/no/such/shell')).rejects.toThrow('ENOENT')
})

test('a user without a shell of their own has the one that every system has', () => {
  for (const shell of ['/usr/sbin/nologin', '/bin/false', '/usr/bin/false', '/bin/true']) {
    vi.stubEnv('SHELL', shell)
    expect(userShell(), shell).not.toBe(shell)
    expect(userShell(), shell).toMatch(/^\/.*sh$/)
  }
  vi.stubEnv('SHELL', '/usr/bin/fish')
  expect(userShell()).toBe('/usr/bin/fish')
  vi.unstubAllEnvs()
})

test('an MCP client shares its variables, but for secrets by name or value, and for its own', () => {
  const shared = {
    PATH: '/opt/venv/bin:/usr/bin',
    VIRTUAL_ENV: '/opt/venv',
    APP: 'stage',
    HTTP_PROXY: 'http://proxy:3128',
  }
  const kept = {
    ...{
      GITHUB_TOKEN: 'x',
      SERVICE: 'postgres://app:swordfish@db/app',
      BOT: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    },
    ...{
      PWD: '/',
      SHLVL: '2',
      TERM: 'dumb',
      npm_command: 'exec',
      REEVE_HOME: '/r',
      REEVE_PROCESS: 'p@h',
      _: '/bin/x',
    },
    // They differ from one terminal to the next.
    ...{
      OLDPWD: '/',
      SSH_CONNECTION: 'a 1 b 22',
      SSH_CLIENT: 'a 1 22',
      SSH_TTY: '/dev/pts/1',
      GPG_TTY: '/dev/pts/1',
    },
    ...{
      WINDOWID: '1',
      TERM_SESSION_ID: 'x',
      ITERM_SESSION_ID: 'x',
      VSCODE_IPC_HOOK_CLI: '/x',
      VSCODE_PID: '1',
    },
    ...{
      TMUX: '/tmp/x',
      TMUX_PANE: '%1',
      STY: '1.x',
      KITTY_WINDOW_ID: '1',
      WT_SESSION: 'x',
      XDG_SESSION_ID: '1',
    },
    'BASH_FUNC_x%%': '() { :; }',
    EMPTY: undefined,
  }
  expect(clientEnvironment({ ...shared, ...kept }).variables).toEqual(shared)
})

test('of more variables than an environment holds the longest are left out', () => {
  const many = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`BIG_${index}`, 'x'.repeat(60_000)]),
  )
  const { variables } = clientEnvironment({ ...many, PATH: '/usr/bin' })
  expect(variables).toHaveProperty('PATH')
  expect(JSON.stringify(variables).length).toBeLessThan(300_000)
  expect(clientEnvironment({ HUGE: 'x'.repeat(200_000), APP: 'here' }).variables).toEqual({ APP: 'here' })
})

test('the PATH of a client goes before that of the base, and no folder is there twice', () => {
  expect(joinedPaths('/venv/bin:/usr/bin', '/usr/bin:/opt/bin:')).toBe('/venv/bin:/usr/bin:/opt/bin')
  expect(joinedPaths('/usr/bin', undefined)).toBe('/usr/bin')
})

test('a daemon that a client starts gets the user, the locale and settings, and nothing of the client', () => {
  const kept = {
    HOME: '/home/me',
    LC_ALL: 'C',
    XDG_RUNTIME_DIR: '/run/user/1',
    REEVE_LISTEN: 'off',
    SSL_CERT_FILE: '/c',
  }
  const client = {
    PATH: '/venv/bin',
    APP: 'stage',
    NODE_OPTIONS: '--inspect',
    PGPASSWORD: 'x',
    OPENAI_API_KEY: 'x',
    REEVE_PROCESS: 'p@h',
    REEVE_TOKEN: 't',
    REEVE_URL: 'http://x',
    REEVE_SESSION: 's',
  }
  expect(daemonEnvironment({ ...kept, ...client })).toEqual({
    ...kept,
    PATH: expect.stringContaining('/usr/bin'),
  })
  const store = { REEVE_STORE: 'postgres://db/app' }
  expect(daemonEnvironment({ ...store, PGPASSWORD: 'x' })).toMatchObject({ ...store, PGPASSWORD: 'x' })
})
