// A live plot of one or two series over time.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const time = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

export function Plot({ title, points, series, format }) {
  const place = useRef(null);
  const plot = useRef(null);
  useEffect(() => {
    const axis = { stroke: color("--dim"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const size = () => ({ width: place.current.clientWidth, height: 150 });
    const data = () => [[], ...series.map(() => [])];
    const make = () =>
      new uPlot(
        {
          ...size(),
          legend: { show: false },
          cursor: { y: false },
          scales: { y: { range: (_, __, top) => [0, top > 0 ? top * 1.1 : 1] } },
          axes: [{ ...axis, values: (_, ticks) => ticks.map(time), space: 90 }, { ...axis, size: 62, values: (_, ticks) => ticks.map(format) }],
          series: [{}, ...series.map((one, number) => ({ stroke: color(`--series-${number + 1}`), width: 2, points: { show: false } }))],
        },
        data(),
        place.current,
      );
    plot.current = make();
    const resized = new ResizeObserver(() => plot.current.setSize(size()));
    resized.observe(place.current);
    const theme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => {
      plot.current.destroy();
      plot.current = make();
    };
    theme.addEventListener("change", redraw);
    return () => {
      theme.removeEventListener("change", redraw);
      resized.disconnect();
      plot.current.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current.setData([points.map((one) => one.time), ...series.map(({ of }) => points.map((one) => one[of]))]);
  }, [points]);
  const last = points.at(-1);
  const shown = ({ of }) => (last && last[of] !== null ? format(last[of]) : "–");
  return (
    <figure class="plot">
      <figcaption>
        <span>{title}</span>
        {series.map((one, number) => (
          <b class={`series-${number + 1}`}>
            {one.name ? `${one.name} ` : ""}
            {shown(one)}
          </b>
        ))}
      </figcaption>
      <div ref={place} role="img" aria-label={`${title}: ${series.map((one) => `${one.name ?? "now"} ${shown(one)}`).join(", ")}`} />
    </figure>
  );
}
