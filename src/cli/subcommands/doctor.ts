import { refuseExtraArguments } from '../arguments.ts'
import type { Check } from '../daemon-control.ts'
import { FAILED } from '../exit-code.ts'
import { subcommand } from '../subcommand.ts'

export const doctor = subcommand({
  name: 'doctor',
  summary: 'Checks what Reeve needs on this machine, and says how to repair it',
  usage: ['doctor [options]'],
  options: {},
  about: 'Changes nothing and starts no daemon. Exit code 1 if something is wrong.',
  examples: [['reeve doctor', '']],
  async run(context) {
    refuseExtraArguments(context, { name: 'doctor' })
    const { around, daemon, home, print } = context
    const { green, yellow, red, dim } = print.colours
    const marks = { good: green('✓'), poor: yellow('!'), bad: red('✗') }
    const found: Check[] = []
    for await (const check of daemon.checks(home, around.cwd)) {
      found.push(check)
      if (print.isJson) continue
      print.line(`${marks[check.state]} ${check.name.padEnd(12)} ${check.found}`)
      if (check.fix !== undefined) print.line(`  ${' '.repeat(12)} ${dim(check.fix)}`)
    }
    if (print.isJson) print.jsonList(found)
    return found.some(({ state }) => state === 'bad') ? FAILED : 0
  },
})
