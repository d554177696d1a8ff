import { expect, test, vi } from 'vitest'
import { loginEnvironment, userShell } from '../../src/command/environment/login.ts'
import { withoutSecrets } from '../../src/command/environment/sanitise.ts'

test('keys and passwords of the daemon are left out, and what is no secret stays', () => {
  const secrets = [
    ...['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GITHUB_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID'],
    ...[
      'NPM_TOKEN',
      'DB_PASSWORD',
      'PGPASSWORD',
      'DATABASE_URL',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'MY_SECRET',
    ],
    ...['GH_PAT', 'HF_TOKEN', 'STRIPE_SECRET_KEY', 'SSH_PRIVATE_KEY', 'SENTRY_DSN', 'OPENROUTER_KEY'],
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
    ...['AUTHOR', 'PATTERN', 'SSH_AUTH_SOCK', 'XDG_SESSION_ID', 'PKG_CONFIG_PATH'],
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

test('a shell that is not there says so', async () => {
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
