/**
 * Drives a program that wants a terminal, as a person would: waits for its questions, types the answers, and reads the
 * screen.
 *
 * npx node --conditions=reeve-source examples/drive-a-terminal.ts
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embed } from 'reeve'

// A typical installer: it asks questions, refuses to run without a terminal, and hides the password.
const installer = `
  [ -t 0 ] || { echo "I need a terminal"; exit 1; }
  printf "Where to? [/opt/tea] "; read -r folder
  stty -echo; printf "Password: "; read -r password; stty echo; echo
  echo "Installing into $folder, with a password of \${#password} letters"
  printf "\\033[1mDone.\\033[0m\\n"
`

const folder = await mkdtemp(join(tmpdir(), 'reeve-example-'))
const reeve = await embed({ store: join(folder, 'reeve.db'), commands: { home: join(folder, 'data') } })

await reeve.spawn({
  kind: 'command',
  name: 'installer',
  spec: { argv: ['/bin/sh', '-c', installer], pty: { cols: 60, rows: 6 } },
})

await reeve.wait({ pid: 'installer', until: { text: 'Where to?' } })
await reeve.submit({ pid: 'installer', text: '/tmp/tea' })
await reeve.wait({ pid: 'installer', until: { text: 'Password:' } })
await reeve.submit({ pid: 'installer', text: 'oolong' })

const ended = await reeve.wait({ pid: 'installer' })
const { lines } = await reeve.screen({ pid: 'installer' })
for (const line of lines) if (line !== '') console.log('│', line)
if (ended.type === 'ended') console.log('installer', ended.record.status)

await reeve.close()
await rm(folder, { recursive: true })
