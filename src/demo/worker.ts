/**
 * The demo's second OS process: a kernel of its own on the same file. It starts the commands, registers the release and
 * runs it, until it is killed. `node worker.ts <folder> <store> <ledger>`
 */
import { embed } from '../embed/embed.ts'
import { COMMANDS, DemoCommands, PROMPT, TYPED_BEFORE } from './commands.ts'
import { Ledger } from './ledger.ts'
import { release, toolsOf } from './tools.ts'

const [folder = '', store = '', file = ''] = process.argv.slice(2)
const ledger = new Ledger(file)
const commandFolder = new DemoCommands(folder, file)

// Odd ones never pass their middle in this process, so that the kill comes in the middle on every machine.
const odd = (input: unknown) => Number(input) % 2 === 1
const tools = toolsOf(ledger, ({ input }) => (odd(input) ? new Promise(() => {}) : Promise.resolve()))

// The demo that started this process is gone when its end of the pipe closes.
process.stdin.on('end', () => process.exit(1)).resume()

const reeve = await embed({ store, tools, commands: commandFolder.options })
for (const name of COMMANDS) {
  const { record } = await reeve.spawn({
    kind: 'command',
    name,
    label: name,
    spec: commandFolder.specOf(name),
  })
  ledger.write('acknowledged', record.pid)
}
await reeve.wait({ pid: 'shell', until: { text: PROMPT } })
await reeve.submit({ pid: 'shell', text: TYPED_BEFORE })
const { record } = await reeve.spawn(release)
ledger.write('acknowledged', record.pid)
