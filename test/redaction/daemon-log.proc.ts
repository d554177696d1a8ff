import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ask } from '../server/ask.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { invented } from './corpus.ts'
import { expectNoSecrets } from './expect-no-secrets.ts'

test('the log of the daemon has no secret', async () => {
  const temp = new TempReeve()
  const secret = invented('daemon log', 36)
  writeFileSync(temp.home.config, JSON.stringify({ shell: `/nowhere/ghp_${secret}`, logLevel: 'trace' }))
  const started = await temp.start(['--listen', '127.0.0.1:0', '--environment', 'login'])
  const where = { home: temp.home, url: started.url }
  await ask(where, `GET /v1/processes/ghp_${secret}`)
  await ask(where, 'POST /v1/processes', { body: { kind: 'command', spec: { argv: ['true'] } } })
  started.signal('SIGTERM')
  await started.ended()
  expect(started.stderr).toContain('ghp_')
  expectNoSecrets('stderr', started.stderr, { secrets: [secret] })
})

test("the log of the daemon has neither the login shell's secrets nor configured ones", async () => {
  const temp = new TempReeve()
  const shell = join(tempFolder(), 'shell')
  writeFileSync(shell, '#!/bin/sh\nexport LOGIN_TOKEN=swordfish-and-chips\nexec /bin/sh "$@"\n', {
    mode: 0o700,
  })
  writeFileSync(temp.home.config, JSON.stringify({ logLevel: 'trace', redactPatterns: ['ACME-[0-9]{6}'] }))
  const started = await temp.start(['--listen', '127.0.0.1:0'], {
    ...{ REEVE_SHELL: shell, REEVE_ENVIRONMENT: 'login' },
  })
  const where = { home: temp.home, url: started.url }
  await ask(where, 'POST /v1/processes', { body: { kind: 'command', spec: { argv: ['true'] } } })
  for (const secret of ['swordfish-and-chips', 'ACME-123456'])
    await ask(where, `GET /v1/processes/x${secret}`)
  started.signal('SIGTERM')
  await started.ended()
  expect(started.stderr).toContain('/v1/processes/x***')
  expectNoSecrets('stderr', started.stderr, { secrets: ['swordfish-and-chips', 'ACME-123456'] })
})
