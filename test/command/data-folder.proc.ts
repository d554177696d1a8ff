import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeOf, runs, TempReeve } from './commands.ts'

test('a data folder that cannot be one is refused with what to do about it', async () => {
  await using temp = new TempReeve()
  const file = join(temp.folder, 'file')
  writeFileSync(file, 'mine')
  for (const home of [file, join(file, 'below')])
    await expect(temp.embed({ home }), home).rejects.toMatchObject({
      code: 'keeper_unavailable',
      message: expect.stringContaining(home),
      remedy: expect.stringContaining('commands.home'),
    })
})

test('a folder with files of another program is left as it is', async () => {
  await using temp = new TempReeve()
  const home = join(temp.folder, 'project')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{}')
  await expect(temp.embed({ home })).rejects.toThrow(/project .*package\.json/)
  expect(readdirSync(home)).toEqual(['package.json'])
})

test('a folder that is empty, or was only half made when its daemon was killed, is used', async () => {
  await using temp = new TempReeve()
  mkdirSync(temp.keeperHome.folder)
  await (await temp.embed()).close()
  await using other = new TempReeve()
  mkdirSync(other.keeperHome.live, { recursive: true })
  writeFileSync(`${other.keeperHome.identity}.123.abcd`, '')
  const reeve = await other.embed()
  expect((await runs(reeve, 'echo here')).text).toBe('here\n')
  expect(await codeOf(other.embed())).toBe('daemon_already_running')
})
