/**
 * A command that outlives the program that started it. A daemon in a separate OS process starts a long command, and
 * is killed with SIGKILL. The command keeps running, and this program gets all its output and its exit code.
 *
 * npx node --conditions=reeve-source examples/background-command.ts
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { embed, type Reeve } from 'reeve'

const [, , role, given] = process.argv
await (role === 'daemon' && given !== undefined ? serve(given) : main())

function open(folder: string): Promise<Reeve> {
  return embed({ store: join(folder, 'reeve.db'), commands: { home: join(folder, 'data') } })
}

/** The daemon: starts the command, and reports its first line of output. */
async function serve(folder: string) {
  const reeve = await open(folder)
  // The command waits for the file `go`, so that it still runs when the next daemon starts.
  const wait = `until [ -e '${join(folder, 'go')}' ]; do sleep 0.05; done`
  const run = `echo "step 1 of 8"; ${wait}; for step in 2 3 4 5 6 7 8; do echo "step $step of 8"; done; exit 3`
  await reeve.spawn({ kind: 'command', name: 'build', spec: { run } })
  await reeve.wait({ pid: 'build', until: { text: 'step 1' } })
  process.send?.('building')
  // The channel closes when the parent has ended.
  process.on('disconnect', () => process.exit())
}

async function main() {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-example-'))
  const daemon = fork(fileURLToPath(import.meta.url), ['daemon', folder])
  await once(daemon, 'message')
  daemon.kill('SIGKILL')
  await once(daemon, 'exit')
  console.log('the build has begun, and its daemon was killed')

  const reeve = await open(folder)
  const { boot } = await reeve.status()
  console.log(`came back: ${boot.adopted.length} command is still running`)
  await writeFile(join(folder, 'go'), '')

  for await (const { bytes } of reeve.followOutput({ pid: 'build' })) process.stdout.write(bytes)
  const ended = await reeve.wait({ pid: 'build' })
  if (ended.type === 'ended') console.log('build', ended.record.status, ended.record.outcome?.exitCode)

  await reeve.close()
  await rm(folder, { recursive: true })
}
