import { TREE_METRICS, type TreeMetric } from '../../lib/transforms/report/result.js'
import type { Mounted, View } from '../app.js'
import { graph } from '../flame/graph.js'
import { bottomUp, pathTo, type FlameTree } from '../flame/tree.js'
import { METRICS } from '../model.js'
import { button, choice, el } from '../parts/dom.js'
import { bytes, exactBytes, grouped, share } from '../parts/format.js'
import { patternOf } from '../filter/fields.js'
import { search } from '../sites/search.js'

/** The stacks as a flame graph. */
export const flame: View = {
  title: 'Flame graph',
  mount(app): Mounted {
    const { model } = app
    let metric: TreeMetric = TREE_METRICS.find((one) => (model.tree(one).totals[0] ?? 0) > 0) ?? 'allocatedBytes'
    let isInverted = false
    let tree: FlameTree = model.tree(metric)
    let expression: RegExp | undefined
    let focus = 0
    const state = el('output', { class: 'detail', attributes: { 'aria-live': 'polite' } })
    const none = el('p', { class: 'none', attributes: { hidden: '' } })

    const amount = (value: number) =>
      METRICS[metric].unit === 'bytes' ? `${bytes(value)} (${exactBytes(value)})` : `${grouped(value)} blocks`
    const name = (node: number) => model.name(tree.frames[node] ?? -1)
    const lines = (node: number) => {
      const frame = tree.frames[node] ?? -1
      const [total, own, all] = [tree.totals[node] ?? 0, tree.own[node] ?? 0, tree.totals[0] ?? 0]
      return [
        name(node),
        ...(frame >= 0 && model.place(frame) !== undefined ? [model.place(frame) as string] : []),
        `${METRICS[metric].title}: ${amount(total)}, ${share(total, all)}`,
        ...(!isInverted && own > 0 && own < total ? [`of its own: ${amount(own)}`] : []),
      ]
    }
    const picture = graph({
      name,
      label: (node) => model.label(tree.frames[node] ?? -1),
      lines,
      selected(node, next) {
        focus = next
        state.replaceChildren(...lines(node).map((line, n) => el('span', n === 0 ? { class: 'strong' } : {}, line)))
        out.disabled = only.disabled = next === 0
      },
    })
    const out = button('Show all', () => picture.zoom(0))
    const only = button('Only with this function', () => app.filter?.add([['stack', patternOf(name(focus))]]), {
      title: 'filter the trace: keep what has this function on the stack',
      attributes: { disabled: '' },
    })

    const mark = () => {
      const found = new Map<number, boolean>()
      const matches = (frame: number) => {
        let is = found.get(frame)
        if (is === undefined) found.set(frame, (is = expression?.test(model.text(frame)) ?? false))
        return is
      }
      const sum = picture.mark(expression === undefined ? undefined : matches)
      field.say(expression === undefined ? '' : `matches: ${amount(sum)}, ${share(sum, tree.totals[0] ?? 0)}`)
    }
    const field = search('Search', (next) => {
      expression = next
      mark()
    })
    const draw = (at = 0) => {
      const plain = model.tree(metric)
      tree = isInverted ? bottomUp(plain) : plain
      const isEmpty = (tree.totals[0] ?? 0) === 0
      none.hidden = !isEmpty
      none.textContent = `There is nothing to draw: ${METRICS[metric].title.toLowerCase()} are zero in this trace.`
      picture.element.hidden = isEmpty
      picture.set(tree, at)
      mark()
    }
    const metrics = choice(
      'Figure',
      TREE_METRICS.filter((one) => model.isKnown(one)).map((one) => [one, METRICS[one].title] as const),
      (next) => {
        // The position remains the same, as far as it exists for the other figure.
        const same = isInverted ? 0 : nearest(model.tree(next))
        metric = next
        draw(same)
      },
    )
    const nearest = (next: FlameTree) => pathTo(tree, focus).findLast((node) => (next.totals[node] ?? 0) > 0) ?? 0
    const inverted = el('input', {
      attributes: { type: 'checkbox' },
      on: {
        change() {
          isInverted = inverted.checked
          draw()
        },
      },
    })
    metrics.set(metric)
    draw()
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, 'Callers are above the functions that they call. Click a box to zoom.'),
        el(
          'div',
          { class: 'bar' },
          metrics.element,
          el(
            'label',
            { class: 'field', title: 'the functions that allocate at the top, and their callers below them' },
            inverted,
            ' inverted',
          ),
          out,
          app.filter && only,
          field.element,
        ),
        state,
        none,
        picture.element,
      ),
      search: field.input,
      show({ node, metric: wanted }) {
        if (node === undefined && wanted === undefined) return
        if (wanted !== undefined) metric = wanted
        if (node !== undefined && (model.tree(metric).totals[node] ?? 0) === 0)
          metric = TREE_METRICS.find((one) => (model.tree(one).totals[node] ?? 0) > 0) ?? metric
        isInverted = inverted.checked = false
        metrics.set(metric)
        draw(0)
        if (node !== undefined && (tree.totals[node] ?? 0) > 0) picture.zoom(node)
      },
    }
  },
}
