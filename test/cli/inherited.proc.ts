import { execFileSync } from 'node:child_process'
import { readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

/** The targets of the descriptors of an OS process. */
function openFiles(osPid: number): string[] {
  return readdirSync(`/proc/${osPid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${osPid}/fd/${fd}`)]
    } catch {
      return []
    }
  })
}

interface Status {
  readonly daemon: { readonly osPid: number }
  readonly keeper: { readonly osPid: number }
}

test('a descriptor of the shell that starts a daemon reaches neither it, nor its keeper, nor a command', async () => {
  const line = new CommandLine()
  const file = join(line.temp.home.folder, 'left-open')
  writeFileSync(file, 'x')
  const run = (words: string) =>
    execFileSync('bash', ['-c', `exec 200<"${file}" 9<"${file}"; ${line.called} ${words}`], {
      env: line.env,
      encoding: 'utf8',
    })
  const list = `'ls -l /proc/self/fd'`
  expect(run(`run -c ${list}`)).not.toContain('left-open')
  const { daemon, keeper } = await line.json<Status>('status')
  expect(openFiles(daemon.osPid)).not.toContain(file)
  expect(openFiles(keeper.osPid)).not.toContain(file)
  run(`run -d --pty --name listed -c ${list}`)
  await line.run(['wait', 'listed'])
  expect((await line.run(['logs', 'listed'])).stdout).not.toContain('left-open')
})

test('every file that a daemon and its keeper create is private to its owner, under any umask', async () => {
  const line = new CommandLine()
  const { folder } = line.temp.home
  execFileSync('bash', ['-c', `umask 000; ${line.called} run -d --name web sleep 300`], { env: line.env })
  const open = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0)
  expect(open).toEqual([])
})
