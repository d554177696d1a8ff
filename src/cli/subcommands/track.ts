import type { InputOf } from '../../verbs/reeve.ts'
import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

export const track = subcommand({
  name: 'track',
  summary: 'Tracks a program that Reeve did not start, by its PID',
  usage: ['track [options] <PID>'],
  options: {
    name: { type: 'text', value: 'name', about: 'a name, which can be used instead of the pid' },
    label: { type: 'text', value: 'text', about: 'the text in lists' },
    description: { type: 'text', value: 'text', about: 'a description, which is recorded' },
    lifetime: {
      type: 'text',
      value: 'scope',
      choices: ['session', 'parent', 'detached'],
      about: 'it is asked to end when this ends; by default detached: never',
    },
    session: { type: 'text', value: 'id', about: 'the session that owns it' },
    parent: { type: 'text', value: 'process', about: 'its parent process' },
  },
  fields: { name: 'name', label: 'label', description: 'description', 'owner.session': 'session' },
  about: `
The program must run on the daemon's machine, as the daemon's user. Stops reach it as signals: SIGINT from interrupt,
SIGTERM from cancel and kill, and SIGKILL when the grace of a kill is over. Before each signal, its boot id, PID and start time are
compared with the record, so that a later program with the same PID is never signalled. Its child programs get no signal.

To stop tracking without a signal: reeve call end pid=<process> status=completed replayKey=untracked.

Reeve notices its end, but not its exit code, which only its parent process gets. Its output is not captured.`,
  examples: [
    ['reeve track 4711 --name db', 'by its PID'],
    ['reeve track "$!" --name build', 'the last job of this shell'],
    ['reeve kill db', 'asks it to end, and forces it after the grace'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'track' }, 1)
    const { options, print, args } = context
    const { name, label, description, lifetime, session, parent } = options
    const [given] = args
    if (given === undefined || !/^[0-9]{1,10}$/.test(given))
      throw new UsageError('reeve track needs a PID.', 'For example: reeve track 4711 --name db')
    const reeve = await context.acting()
    const { record, warning } = await reeve.track({
      osPid: Number(given),
      ...(name === undefined ? {} : { name }),
      ...(label === undefined ? {} : { label }),
      ...(description === undefined ? {} : { description }),
      ...(session === undefined ? {} : { owner: { session } }),
      ...(parent === undefined ? {} : { parent }),
      ...(lifetime === undefined ? {} : { lifetime: lifetime as NonNullable<InputOf<'track'>['lifetime']> }),
    })
    if (warning?.code === 'name_in_use')
      print.aside(`${name} is also the name of ${warning.pid}: from now on it means ${record.pid}.`)
    if (print.isJson) print.json(record)
    else print.line(record.pid)
    return 0
  },
})
