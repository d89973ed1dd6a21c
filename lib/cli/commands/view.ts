import { flag, type Command } from '../command.js'
import { PAGE_SUPPRESS_HELP, SUPPRESS_FLAGS, SYMBOLIZE_FLAG, SYMBOLIZE_HELP } from '../flags.js'

export const view: Command = {
  name: 'hf-view',
  summary: 'show a report on a trace in the browser, or a page that reads traces there',
  operands: '[FILE]',
  isOpenEnded: true,
  description:
    'With a trace, takes the report that hf-report writes and shows it in the browser. Without one, the page takes ' +
    'traces that are dropped on it or chosen: any format but Parquet and HATF in ASCII, compressed or not. It reads ' +
    'them itself, and filters them as hf-filter does; nothing leaves the machine. With a trace, the page can filter ' +
    'that if it is small: see hf-report --embed. A page that is saved then contains the whole trace.\n' +
    `${PAGE_SUPPRESS_HELP}\n` +
    `${SYMBOLIZE_HELP} The trace in the page has the names, so that all views show them.\n` +
    'The page is served on the loopback interface only, under an address with a random token, which is printed. ' +
    'Nothing else is served, and requests for other hosts are refused. Ctrl-C or SIGTERM ends the command, with ' +
    'status 0. The browser is the command in the environment variable BROWSER, or that of the system. BROWSER may ' +
    'list several, with colons between them, and have %s in the place of the address.',
  memory: 'that of hf-report; without a trace, next to nothing.',
  flags: [
    ...SUPPRESS_FLAGS,
    SYMBOLIZE_FLAG,
    flag('--port N', 'Serve on this port instead of any that is free'),
    flag('--once', 'End when the page was delivered'),
    flag('--no-browser', 'Only print the address'),
  ],
  examples: {
    'hf-view app.mtrc.gz': 'a report on a trace',
    'hf-view': 'a page to drop traces on',
    'mtrc-decode app.mtrc | hf-filter --thread 7 --lifetimes | hf-view -': 'of a part',
  },
  run: async (args) => (await import('./view.run.js')).runView(args),
}
