/* The part of Vega that the figures need, put together out of its modules (vega_modules, written above this by src/figure/vega.c) as its own index does.
 *
 * Vega: Copyright (c) 2015-2021, University of Washington Interactive Data Lab. All rights reserved.
 *
 * Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met:
 * 1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.
 * 2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or other materials
 *    provided with the distribution.
 * 3. Neither the name of the University nor the names of its contributors may be used to endorse or promote products derived from this software without specific prior written permission.
 *
 * THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
 * FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
 * (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN
 * CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
 *
 * Its modules hold parts of D3 (Copyright 2010-2021 Mike Bostock, ISC licence: permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
 * provided that the above copyright notice and this permission notice appear in all copies. The software is provided "as is" and the author disclaims all warranties) and of Esprima (Copyright
 * 2011-2013 Ariya Hidayat and others, BSD 2-clause licence: the first two conditions and the disclaimer above). */
var vega = (function (modules) {
    "use strict";
    var loaded = {};

    function require(name) {
        if (!loaded[name]) {
            if (!modules[name])
                throw new Error("Vega's module " + name + " is not in this page");
            var module = { exports: {} };
            loaded[name] = module;
            modules[name](module.exports, module, require);
        }
        return loaded[name].exports;
    }

    require("vega-util").extend(require("vega-dataflow").transforms, require("vega-transforms"), require("vega-view-transforms"), require("vega-encode"));
    return { parse: require("vega-parser").parse, View: require("vega-view").View, Warn: require("vega-util").Warn };
})(vega_modules);
