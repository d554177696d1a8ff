import { chmodSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SecretFile } from '../../src/daemon/secret-file.ts'
import { TempReeve } from '../temp-reeve.ts'

test('a daemon lists an unreadable secrets.json among its troubles until the file can be read again', async () => {
  const temp = new TempReeve()
  new SecretFile(temp.home).set('TOKEN', 'canary-1f2e3d4c5b6a7988')
  const { reeve } = await temp.up()
  expect((await reeve.status()).troubles).toEqual([])

  chmodSync(temp.home.secrets, 0o644)
  const [trouble, ...others] = (await reeve.status()).troubles
  expect(others).toEqual([])
  expect(trouble).toMatchObject({
    code: 'secrets_unusable',
    message: expect.stringContaining(`The secrets in ${temp.home.secrets} cannot be used`),
    remedy: expect.stringContaining(`chmod 600 ${temp.home.secrets}`),
  })
  expect((await reeve.status()).troubles).toEqual([trouble])

  chmodSync(temp.home.secrets, 0o600)
  expect((await reeve.status()).troubles).toEqual([])

  writeFileSync(temp.home.secrets, 'no JSON', { mode: 0o600 })
  expect((await reeve.status()).troubles).toMatchObject([{ code: 'secrets_unusable' }])
})
