import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'
import { flagsGiven, settingOptions } from '../up-options.ts'

export const config = subcommand({
  name: 'config',
  summary: 'Shows the settings, and where each value comes from',
  usage: ['config [options]'],
  moreOptions: settingOptions,
  options: {},
  about: `
The settings that a daemon would start with: options go before the environment (REEVE_LISTEN …), that before reeve.json in the
home, that before the defaults. A running daemon keeps the settings it was started with.`,
  examples: [
    ['reeve config', ''],
    ['reeve config --json', 'for programs'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'config' })
    const { daemon, home, options, print, around } = context
    const settings = await daemon.configuration(home, await flagsGiven(daemon, options))
    if (print.isJson) {
      print.jsonList(settings)
      return 0
    }
    const running = around.stderr.isTTY ? await daemon.running(home) : null
    if (running !== null)
      print.aside(`The running daemon (PID ${running.osPid}) keeps the settings it was started with.`)
    const { dim, bold } = print.colours
    print.table(
      [{ title: 'KEY' }, { title: 'VALUE', flexible: true }, { title: 'FROM' }],
      settings.map(({ key, value, from }) => [
        { text: key },
        { text: JSON.stringify(value), paint: from === 'default' ? dim : bold },
        { text: from, paint: dim },
      ]),
    )
    return 0
  },
})
