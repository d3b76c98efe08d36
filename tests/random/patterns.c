/*
 * The instructions of one lane, as patterns from which a statement is drawn.
 *   {a,b,}     one of these        {T=a,b}  the same, remembered as T       {T}  it again       {T?x,y}  x where T was
 * its first choice $w $f ...  a source of an operand class (registers.c), perhaps a literal;  $W $F ... a destination
 *   $v $o $g   a 32, 64, 16-bit integer register, never a literal       $q  a predicate, perhaps negated
 *   $s         a shift amount or bit position      $n $m $k  a 32, 64, 16-bit register that is not zero
 *   < >        PTX braces
 * Floating-point add, sub and mul always name their rounding: without it the assembler may fuse
 * them. */
#include "random.h"
#include <string.h>

#define TI            "{T=u16,s16,u32,s32,u64,s64}"
#define DI            "{T?$H,$H,$W,$W,$L,$L}"
#define SI            "{T?$h,$h,$w,$w,$l,$l}"
#define ROUND         "{rn,rz,rm,rp}"
#define ORDERED       "{eq,ne,lt,le,gt,ge}"
#define FCMP          "{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}"
#define SRC_INT       "{S=u8,s8,u16,s16,u32,s32,u64,s64}"
#define SRC_INT_REG   "{S?$g,$v,$o,$g,$v,$v,$o,$o}"
#define DST_INT       "{T=u8,s8,u16,s16,u32,s32,u64,s64}"
#define DST_INT_REG   "{T?$H,$W,$W,$H,$W,$W,$L,$L}"
#define DST_FLOAT     "{T=f16,f32,f64}"
#define DST_FLOAT_REG "{T?$E,$F,$D}"
#define SRC_FLOAT     "{S=f16,f32,f64}"
#define SRC_FLOAT_REG "{S?$e,$f,$d}"

struct group {
    const char *name;
    unsigned weight;
    const char *const *patterns;
};

static const char *const integer[] = {
    "{add,sub}.{u32,s32} $W, $w, $w",
    "add.{u64,s64} $L, $l, $l",
    "mad.lo.s32 $W, $w, $w, $w",
    "mul.wide.{u32,s32} $L, $v, $w",
    "{add,sub,mul.lo,mul.hi,min,max}." TI " " DI ", " SI ", " SI,
    "mad.{lo,hi}." TI " " DI ", " SI ", " SI ", " SI,
    "mul.wide.{T=u16,s16,u32,s32} {T?$W,$W,$L,$L}, {T?$g,$g,$v,$v}, {T?$h,$h,$w,$w}",
    "mad.wide.{T=u16,s16,u32,s32} {T?$W,$W,$L,$L}, {T?$g,$g,$v,$v}, {T?$h,$h,$w,$w}, {T?$w,$w,$l,$l}",
    "add.{u16x2,s16x2} $Z, $z, $z",
    "{min,max}{.u16x2,.s16x2,.relu.s16x2} $Z, $z, $z",
    "{min,max}.relu.s32 $W, $v, $v",
    "{add,sub}.sat.s32 $W, $w, $w",
    "mad.hi.sat.s32 $W, $w, $w, $w",
    "{mul24.lo,mul24.hi}.{u32,s32} $W, $w, $w",
    "{mad24.lo,mad24.hi}.{u32,s32} $W, $w, $w, $w",
    "mad24.hi.sat.s32 $W, $w, $w, $w",
    "sad." TI " " DI ", " SI ", " SI ", " SI,
    "{abs,neg}.{T=s16,s32,s64} {T?$H,$W,$L}, {T?$g,$v,$o}",
    "{div,rem}." TI " " DI ", {T?$g,$g,$v,$v,$o,$o}, {T?$k,$k,$n,$n,$m,$m}",
    "{div,rem}.{u32,s32} $W, $v, {3,7,10,64,1000,12345}",
    NULL};

static const char *const carry[] = {
    "add.cc.{T=u32,s32,u64,s64} {T?$W,$W,$L,$L}, {T?$w,$w,$l,$l}, {T?$w,$w,$l,$l}; "
    "addc.{,cc.}{T} {T?$W,$W,$L,$L}, {T?$w,$w,$l,$l}, {T?$w,$w,$l,$l}; addc.{T} {T?$W,$W,$L,$L}, {T?$w,$w,$l,$l}, 0",
    "sub.cc.{T=u32,s32,u64,s64} {T?$W,$W,$L,$L}, {T?$w,$w,$l,$l}, {T?$w,$w,$l,$l}; "
    "subc.cc.{T} {T?$W,$W,$L,$L}, {T?$w,$w,$l,$l}, {T?$w,$w,$l,$l}; subc.{T} {T?$W,$W,$L,$L}, {T?$w,$w,$l,$l}, "
    "{T?$w,$w,$l,$l}",
    "mad.{lo,hi}.cc.{T=u32,s32,u64,s64} {T?$W,$W,$L,$L}, {T?$v,$v,$o,$o}, {T?$v,$v,$o,$o}, {T?$v,$v,$o,$o}; "
    "madc.{lo,hi}.cc.{T} {T?$W,$W,$L,$L}, {T?$v,$v,$o,$o}, {T?$v,$v,$o,$o}, {T?$v,$v,$o,$o}; "
    "madc.{lo,hi}.{T} {T?$W,$W,$L,$L}, {T?$v,$v,$o,$o}, {T?$v,$v,$o,$o}, {T?$v,$v,$o,$o}",
    "mad.lo.cc.u32 $W, $v, $v, $v; xor.b32 $W, $v, $v; madc.hi.u32 $W, $v, $v, 0", NULL};

static const char *const bits[] = {
    "{and,or,xor}.b32 $W, $w, $w",
    "shl.b32 $W, $w, $s",
    "shr.{u32,s32} $W, $w, $s",
    "popc.{T=b32,b64} $W, {T?$v,$o}",
    "{and,or,xor}.{T=b16,b32,b64} {T?$H,$W,$L}, {T?$h,$w,$l}, {T?$h,$w,$l}",
    "{not,cnot}.{T=b16,b32,b64} {T?$H,$W,$L}, {T?$g,$v,$o}",
    "{and,or,xor}.pred $P, $p, $p",
    "not.pred $P, $p",
    "mov.pred $P, $p",
    "shl.{T=b16,b32,b64} {T?$H,$W,$L}, {T?$g,$v,$o}, $s",
    "shr.{T=b16,u16,s16,b32,u32,s32,b64,u64,s64} {T?$H,$H,$H,$W,$W,$W,$L,$L,$L}, {T?$g,$g,$g,$v,$v,$v,$o,$o,$o}, $s",
    "shl.{T=b16,b32,b64} {T?$H,$W,$L}, {T?$g,$v,$o}, $v",
    "shr.{T=s16,u32,s64} {T?$H,$W,$L}, {T?$g,$v,$o}, $v",
    "lop3.b32 $W, $w, $w, $w, {0x96,0xe8,0xca,0xd8,0xac,0x1e,0x78,0xf8,0xea,0x3c,0x17,0x01,0x40,0x35,0xfe}",
    "lop3.{or,and}.b32 $W|$P, $v, $v, $v, {0x96,0xe8,0x80,0xfe,0x1b}, $p",
    "shf.{l,r}.{clamp,wrap}.b32 $W, $w, $w, $s",
    "shf.{l,r}.{clamp,wrap}.b32 $W, $w, $w, $v",
    "prmt.b32 $W, $v, $v, {0x3210,0x7654,0x0123,0x5410,0x8888,0xba98,0x3715,0xfedc}",
    "prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} $W, $v, $w, $v",
    "clz.{T=b32,b64} $W, {T?$v,$o}",
    "bfind{,.shiftamt}.{T=u32,s32,u64,s64} $W, {T?$v,$v,$o,$o}",
    "brev.{T=b32,b64} {T?$W,$L}, {T?$v,$o}",
    "bfe.{T=u32,s32,u64,s64} {T?$W,$W,$L,$L}, {T?$v,$v,$o,$o}, $s, $s",
    "bfi.{T=b32,b64} {T?$W,$L}, {T?$w,$l}, {T?$v,$o}, $s, $s",
    "bmsk.{clamp,wrap}.b32 $W, $s, $s",
    "szext.{clamp,wrap}.{u32,s32} $W, $v, $s",
    "fns.b32 $W, $v, {0,3,31}, {1,2,-1,3}",
    "dp4a.{u32,s32}.{u32,s32} $W, $v, $v, $w",
    "dp2a.{lo,hi}.{u32,s32}.{u32,s32} $W, $v, $v, $w",
    NULL};

static const char *const compare[] = {
    "setp." ORDERED ".{u32,s32} $P, $w, $w",
    "setp." ORDERED "." TI " $P, " SI ", " SI,
    "setp.{eq,ne}.{T=b16,b32,b64} $P, {T?$g,$v,$o}, {T?$h,$w,$l}",
    "setp.{lo,ls,hi,hs}.{T=u16,u32,u64} $P, {T?$g,$v,$o}, {T?$h,$w,$l}",
    "setp." ORDERED "." TI " $P|$P, " SI ", " SI,
    "setp." ORDERED ".{and,or,xor}." TI " $P{,|$P}, " SI ", " SI ", $q",
    "setp." FCMP "{,.ftz}.f32 $P, $f, $f",
    "setp." FCMP ".f64 $P, $d, $d",
    "setp." FCMP ".{and,or,xor}{,.ftz}.f32 $P{,|$P}, $f, $f, $q",
    "setp." FCMP ".{and,or,xor}.f64 $P{,|$P}, $d, $d, $q",
    "setp." FCMP "{,.ftz}.f16 $P, $e, $e",
    "setp." FCMP ".bf16 $P, $y, $y",
    "setp." FCMP "{,.ftz}.f16x2 $P|$P, $x, $x",
    "setp." FCMP ".{and,or,xor}.bf16x2 $P|$P, $z, $z, $q",
    "setp." FCMP ".{and,or,xor}.{T=f16,bf16} $P, {T?$e,$y}, {T?$e,$y}, $q",
    "set." ORDERED ".{D=u32,s32,f32}." TI " {D?$W,$W,$F}, " SI ", " SI,
    "set." FCMP "{,.ftz}.{D=u32,s32,f32}.f32 {D?$W,$W,$F}, $f, $f",
    "set." FCMP ".{D=u32,s32,f32}.f64 {D?$W,$W,$F}, $d, $d",
    "set.{lt,ne,ge}.{and,or,xor}.{D=u32,s32,f32}.s32 {D?$W,$W,$F}, $w, $w, $q",
    "set." FCMP ".{and,or,xor}.{D=u32,f32}.f32 {D?$W,$F}, $f, $f, $q",
    "set." FCMP "{,.ftz}.{D=f16,u16,s32}.f16 {D?$E,$H,$W}, $e, $e",
    "set." FCMP ".{D=bf16,u16,s32}.bf16 {D?$Y,$H,$W}, $y, $y",
    "set." FCMP "{,.ftz}.f16x2.f16x2 $X, $x, $x",
    "set." FCMP ".bf16x2.bf16x2 $Z, $z, $z",
    "selp.{b32,u32,s32} $W, $w, $w, $p",
    "selp.{T=b16,u16,s16,b64,u64,s64,f32,f64} {T?$H,$H,$H,$L,$L,$L,$F,$D}, {T?$h,$h,$h,$l,$l,$l,$f,$d}, "
    "{T?$h,$h,$h,$l,$l,$l,$f,$d}, $p",
    "slct.{T=b16,u32,s64,f32,f64}.s32 {T?$H,$W,$L,$F,$D}, {T?$h,$w,$l,$f,$d}, {T?$h,$w,$l,$f,$d}, $v",
    "slct{,.ftz}.{T=b16,u32,s64,f32,f64}.f32 {T?$H,$W,$L,$F,$D}, {T?$h,$w,$l,$f,$d}, {T?$h,$w,$l,$f,$d}, $f",
    "testp.{finite,infinite,number,notanumber,normal,subnormal}.{T=f32,f64} $P, {T?$f,$d}",
    NULL};

static const char *const single[] = {"{add,sub,mul}." ROUND "{,.ftz}{,.sat}.f32 $F, $f, $f",
                                     "{add,sub,mul}.rn.f32 $F, $f, $f",
                                     "fma.rn{,.ftz}.f32 $F, $f, $f, $f",
                                     "{fma,mad}." ROUND "{,.ftz}{,.sat}.f32 $F, $f, $f, $f",
                                     "div." ROUND "{,.ftz}.f32 $F, $f, $f",
                                     "div.rn.f32 $F, $f, $f",
                                     "{rcp,sqrt}." ROUND "{,.ftz}.f32 $F, $f",
                                     "{abs,neg}{,.ftz}.f32 $F, $f",
                                     "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32 $F, $f, $f",
                                     "copysign.f32 $F, $f, $f",
                                     NULL};

static const char *const real[] = {"{add,sub,mul}." ROUND ".f64 $D, $d, $d",
                                   "{fma,mad}." ROUND ".f64 $D, $d, $d, $d",
                                   "div." ROUND ".f64 $D, $d, $d",
                                   "{rcp,sqrt}." ROUND ".f64 $D, $d",
                                   "{abs,neg}.f64 $D, $d",
                                   "{min,max}.f64 $D, $d, $d",
                                   "copysign.f64 $D, $d, $d",
                                   NULL};

static const char *const half[] = {
    "{add,sub,mul}.rn{,.ftz}{,.sat}.{T=f16,f16x2} {T?$E,$X}, {T?$e,$x}, {T?$e,$x}",
    "fma.rn{,.ftz}{,.sat,.relu}.{T=f16,f16x2} {T?$E,$X}, {T?$e,$x}, {T?$e,$x}, {T?$e,$x}",
    "fma.rn.oob{,.relu}.{T=f16,f16x2} {T?$E,$X}, {T?$e,$x}, {T?$e,$x}, {T?$e,$x}",
    "{abs,neg}{,.ftz}.{T=f16,f16x2} {T?$E,$X}, {T?$e,$x}",
    "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.{T=f16,f16x2} {T?$E,$X}, {T?$e,$x}, {T?$e,$x}",
    "{add,sub,mul}.rn.{T=bf16,bf16x2} {T?$Y,$Z}, {T?$y,$z}, {T?$y,$z}",
    "fma.rn{,.relu,.oob}.{T=bf16,bf16x2} {T?$Y,$Z}, {T?$y,$z}, {T?$y,$z}, {T?$y,$z}",
    "{abs,neg}.{T=bf16,bf16x2} {T?$Y,$Z}, {T?$y,$z}",
    "{min,max}{,.NaN}{,.xorsign.abs}.{T=bf16,bf16x2} {T?$Y,$Z}, {T?$y,$z}, {T?$y,$z}",
    NULL};

static const char *const convert[] = {"cvt.{T=u32,s32,u64,s64}.{S=u32,s32,u16,s16} {T?$W,$W,$L,$L}, {S?$v,$v,$g,$g}",
                                      "cvt.{u32,s32,u16,s16,u8,s8}.{u64,s64} $W, $o",
                                      "cvt." DST_INT "." SRC_INT " " DST_INT_REG ", " SRC_INT_REG,
                                      "cvt.{u8,s8,u16,s16}." SRC_INT " {$W,$L}, " SRC_INT_REG,
                                      "cvt.{u16,s16}." SRC_INT " $H, " SRC_INT_REG,
                                      "cvt.sat.u8.{S=s8,u16,s16,u32,s32,u64,s64} {$H,$W}, {S?$g,$g,$g,$v,$v,$o,$o}",
                                      "cvt.sat.s8.{S=u8,u16,s16,u32,s32,u64,s64} {$H,$W,$L}, {S?$g,$g,$g,$v,$v,$o,$o}",
                                      "cvt.sat.u16.{S=s8,s16,u32,s32,u64,s64} {$H,$W}, {S?$g,$g,$v,$v,$o,$o}",
                                      "cvt.sat.s16.{S=u16,u32,s32,u64,s64} {$H,$W}, {S?$g,$v,$v,$o,$o}",
                                      "cvt.sat.u32.{S=s8,s16,s32,u64,s64} $W, {S?$g,$g,$v,$o,$o}",
                                      "cvt.sat.s32.{S=u32,u64,s64} $W, {S?$v,$o,$o}",
                                      "cvt.sat.{T=u64,s64}.{T?s64,u64} $L, $o",
                                      "cvt.{rni,rzi,rmi,rpi}{,.sat}." DST_INT "." SRC_FLOAT " " DST_INT_REG
                                      ", " SRC_FLOAT_REG,
                                      "cvt.{rni,rzi,rmi,rpi}.ftz{,.sat}." DST_INT ".f32 " DST_INT_REG ", $f",
                                      "cvt.{rni,rzi,rmi,rpi}.{T=u16,s16,u32,s32,u64,s64}.bf16 " DI ", $y",
                                      "cvt." ROUND "{,.sat}." DST_FLOAT "." SRC_INT " " DST_FLOAT_REG ", " SRC_INT_REG,
                                      "cvt." ROUND ".bf16.{S=u16,s16,u32,s32,u64,s64} $Y, {S?$g,$g,$v,$v,$o,$o}",
                                      "cvt.rn.{T=f32,f64}.{s32,u32} {T?$F,$D}, $v",
                                      "cvt{,.sat}.{T=f32,f64}.f16 {T?$F,$D}, $e",
                                      "cvt.ftz{,.sat}.f32.f16 $F, $e",
                                      "cvt{,.ftz}{,.sat}.f64.f32 $D, $f",
                                      "cvt.sat.{T=f16,f32,f64}.{T} {T?$E,$F,$D}, {T?$e,$f,$d}",
                                      "cvt{,.ftz}{,.sat}.f32.f32 $F, $f",
                                      "cvt.{T=f32,f64}.bf16 {T?$F,$D}, $y",
                                      "cvt.{rni,rzi,rmi,rpi}{,.sat}.{T=f16,f32,f64}.{T} {T?$E,$F,$D}, {T?$e,$f,$d}",
                                      "cvt." ROUND "{,.ftz}{,.sat}.f16.f32 $E, $f",
                                      "cvt." ROUND "{,.sat}.f16.f64 $E, $d",
                                      "cvt." ROUND "{,.ftz}{,.sat}.f32.f64 $F, $d",
                                      "cvt." ROUND ".bf16.{S=f16,f32,f64} $Y, {S?$e,$f,$d}",
                                      "cvt.{rn,rz}{,.satfinite}{,.relu}.{T=f16,bf16}.f32 {T?$E,$Y}, $f",
                                      "cvt.{rn,rz}{,.satfinite}{,.relu}.{T=f16x2,bf16x2}.f32 {T?$X,$Z}, $f, $f",
                                      "cvt{.rna,.rn,.rz,.rn.relu,.rz.relu,.rna.satfinite}.tf32.f32 $Z, $f",
                                      "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32 $Y, $f, $f",
                                      "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2 $Y, $x",
                                      "cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2} $X, $y",
                                      "cvt.pack.sat.{u16,s16}.s32 $W, $v, $v",
                                      "cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32 $W, $v, $v, $v",
                                      "cvt." ROUND ".f16.bf16 $E, $y",
                                      "cvt.{rni,rzi,rmi,rpi}.bf16.bf16 $Y, $y",
                                      NULL};

static const char *const move[] = {
    "mov.{T=b16,u32,b32,s32,b64,u64,f32,f64} {T?$H,$W,$B,$W,$C,$L,$F,$D}, {T?$a,$w,$b,$w,$c,$l,$f,$d}",
    "mov.b32 $B, $f",
    "mov.b32 $F, $b",
    "mov.b64 $D, $c",
    "mov.b64 $C, $d",
    "mov.b32 $B, <{T=$g,$e}, {T?$g,$e}>",
    "mov.b32 <{T=$H,$E}, {T?$H,$E}>, $b",
    "mov.b64 $C, <{T=$v,$f,$x}, {T?$v,$f,$x}>",
    "mov.b64 <{T=$W,$F,$X}, {T?$W,$F,$X}>, $c",
    "mov.b64 $C, <$g, $g, $g, $g>",
    "mov.b64 <{T=$H,$E}, {T?$H,$E}, {T?$H,$E}, {T?$H,$E}>, $c",
    "mov.b64 <_, $B>, $c",
    "mov.b64 <$B, _>, $c",
    "mov.b32 <_, $A>, $b",
    "< .reg .b8 %x0, %x1; cvt.u8.u16 %x0, $g; cvt.u8.u16 %x1, $g; mov.b16 $H, <%x0, %x1>; >",
    "< .reg .b128 %x0, %x1; mov.b128 %x0, <$o, $o>; mov.b128 %x1, %x0; mov.b128 <$L, $L>, %x1; >",
    "mov.u32 $W, %{tid.x,tid.y,tid.z,ntid.x,ntid.y,ntid.z,ctaid.x,ctaid.y,ctaid.z,nctaid.x,nctaid.y,nctaid.z}",
    "mov.u32 $W, %{laneid,lanemask_eq,lanemask_le,lanemask_lt,lanemask_ge,lanemask_gt}",
    "cvt.u16.u32 $H, %{tid.x,ntid.x,ctaid.x,laneid}",
    "< .reg .b64 %shadow; mov.b64 %shadow, $o; shr.u64 %shadow, %shadow, 7; cvt.u32.u64 $W, %shadow; >",
    "xor.b32 $W, %shadow, $v",
    "mov.u32 $W, {WARP_SZ,0b1011,0377,~5,(3 == 4) ? 10 : 20,(1 << 5) | (0xf0 >> 2)}",
    "mov.f32 $F, {1.5,-0.1,2.5e-3,0f3F800001}",
    "mov.f64 $D, {1.5,-0.1,1e300,0d3FF0000000000001}",
    NULL};

static const char *const video[] = {
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} $W, $v, $v",
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}.sat.{add,min,max} $W, $v.{b0,b1,b2,b3,h0,h1}, "
    "$v.{b0,b1,b2,b3,h0,h1}, $v",
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.u32.sat $W.{b0,b1,b2,b3,h0,h1}, $v.{h0,h1,b2}, $v.{b0,b3,h1}, "
    "$v",
    "{vadd,vsub,vabsdiff,vmin,vmax}.s32.{u32,s32}.{u32,s32} $W, $v.{b0,b1,b2,b3,h0,h1}, $v.{b0,b1,b2,b3,h0,h1}",
    "{vshl,vshr}.{u32,s32}.{u32,s32}.u32{,.sat}.{clamp,wrap} $W, $v, $v",
    "{vshl,vshr}.{u32,s32}.{u32,s32}.u32{,.sat}.{clamp,wrap}.{add,min,max} $W, $v.h1, $v.b0, $v",
    "vmad.{u32,s32}.{u32,s32}.{u32,s32}{,.sat}{,.shr7,.shr15} $W, $v, $v, $v",
    "vmad.s32.{u32,s32}.{u32,s32}{,.sat}{,.shr7,.shr15} $W, $v.{b0,h1}, $v.{b2,h0}, $v",
    "vset.{u32,s32}.{u32,s32}." ORDERED " $W, $v, $v",
    "vset.{u32,s32}.{u32,s32}." ORDERED ".{add,min,max} $W, $v.b1, $v.h1, $v",
    "{vadd,vsub,vavrg,vabsdiff,vmin,vmax}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} $W, $v, $v, $v",
    "{vset2,vset4}.{u32,s32}.{u32,s32}." ORDERED "{,.add} $W, $v, $v, $v",
    "{vadd2,vsub2,vavrg2,vabsdiff2,vmin2,vmax2}.s32.s32.u32 $W.{h0,h1,h10}, $v.{h10,h32,h21}, $v.{h21,h03}, $v",
    "{vadd4,vsub4,vavrg4,vabsdiff4,vmin4,vmax4}.s32.s32.u32 $W.{b0,b31,b3210,b20}, $v.{b3120,b7654}, $v.{b4567,b0246}, "
    "$v",
    NULL};

static const struct group groups[] = {
    {"integer", 24, integer}, {"bits", 14, bits},  {"compare", 14, compare}, {"single", 13, single},
    {"convert", 12, convert}, {"move", 8, move},   {"real", 5, real},        {"half", 8, half},
    {"carry", 3, carry},      {"video", 3, video},
};

struct expansion {
    struct generator *g;
    struct text text;
    int chosen[26]; /* of each remembered choice: which */
    const char *value[26];
    int value_size[26];
    char destination_class[8];
    const char *destination[8];
    int destinations;
};

static void add_destination(struct expansion *x, char class)
{
    const char *name;
    int taken;
    do {
        taken = 0;
        name = register_pick(x->g, class);
        for (int i = 0; i < x->destinations; i++)
            taken |= x->destination[i] == name;
    } while (taken);
    if (x->destinations < 8) {
        x->destination_class[x->destinations] = class;
        x->destination[x->destinations++] = name;
    }
    text_add(&x->text, "%s", name);
}

static void add_nonzero(struct expansion *x, char class, const char *type, const char *prefix)
{
    struct generator *g = x->g;
    int t = temporary(g);
    const char *source = register_pick(g, class);
    text_add(&g->body, "    or.b%s %%%s%d, %s, 1;\n", type, prefix, t, source);
    text_add(&x->text, "%%%s%d", prefix, t);
}

static void add_shift(struct expansion *x)
{
    static const unsigned masks[] = {15, 31, 63, 127};
    if (rng_percent(&x->g->rng, 50)) {
        text_add(&x->text, "%u", rng_below(&x->g->rng, 36));
        return;
    }
    unsigned mask = masks[rng_below(&x->g->rng, 4)];
    text_add(&x->text, "%%t%d", masked_value(x->g, mask));
}

static void add_operand(struct expansion *x, char class)
{
    if (class >= 'A' && class <= 'Z') {
        add_destination(x, (char)(class - 'A' + 'a'));
        return;
    }
    switch (class) {
    case 'v': text_add(&x->text, "%s", register_pick(x->g, 'w')); break;
    case 'o': text_add(&x->text, "%s", register_pick(x->g, 'l')); break;
    case 'g': text_add(&x->text, "%s", register_pick(x->g, 'h')); break;
    case 'q':
        if (rng_percent(&x->g->rng, 40))
            text_add(&x->text, "!");
        text_add(&x->text, "%s", register_pick(x->g, 'p'));
        break;
    case 'n': add_nonzero(x, 'w', "32", "t"); break;
    case 'm': add_nonzero(x, 'l', "64", "a"); break;
    case 'k': add_nonzero(x, 'h', "16", "k"); break;
    case 's': add_shift(x); break;
    default: operand_add(x->g, &x->text, class);
    }
}

static void expand(struct expansion *x, const char *pattern, size_t size);

/* The choice with a number, among those between `from` and `end`. */
static const char *choice_at(const char *from, const char *end, int which, int *size)
{
    const char *at = from;
    for (; which > 0 && at < end; at++)
        which -= *at == ',';
    const char *stop = at;
    while (stop < end && *stop != ',')
        stop++;
    *size = (int)(stop - at);
    return at;
}

static int is_name(char c) { return c >= 'A' && c <= 'Z'; }

static void expand_choice(struct expansion *x, const char *from, const char *end)
{
    int size;
    if (is_name(from[0]) && end == from + 1) {
        expand(x, x->value[from[0] - 'A'], (size_t)x->value_size[from[0] - 'A']);
        return;
    }
    if (is_name(from[0]) && from[1] == '?') {
        const char *text = choice_at(from + 2, end, x->chosen[from[0] - 'A'], &size);
        expand(x, text, (size_t)size);
        return;
    }
    int name = is_name(from[0]) && from[1] == '=' ? from[0] - 'A' : -1;
    if (name >= 0)
        from += 2;
    unsigned count = 1;
    for (const char *c = from; c < end; c++)
        count += *c == ',';
    int which = (int)rng_below(&x->g->rng, count);
    const char *text = choice_at(from, end, which, &size);
    if (name >= 0) {
        x->chosen[name] = which;
        x->value[name] = text;
        x->value_size[name] = size;
    }
    expand(x, text, (size_t)size);
}

static void expand(struct expansion *x, const char *pattern, size_t size)
{
    const char *end = pattern + size;
    for (const char *c = pattern; c < end; c++) {
        if (*c == '{') {
            const char *close = memchr(c, '}', (size_t)(end - c));
            expand_choice(x, c + 1, close);
            c = close;
        } else if (*c == '$') {
            add_operand(x, *++c);
        } else if (*c == '<' && c + 1 < end && c[1] == '<') {
            text_add(&x->text, "<<");
            c++;
        } else if (*c == '>' && c + 1 < end && c[1] == '>') {
            text_add(&x->text, ">>");
            c++;
        } else {
            text_add(&x->text, "%c", *c == '<' ? '{' : *c == '>' ? '}' : *c);
        }
    }
}

/* NVIDIA's assembler makes several instructions of these and guards only some: lanes that are guarded off lose their
 * value all the same. */
static int guard_is_lost(const char *statement)
{
    static const char *const lost[] = {".f32.",   ".f16.",   ".bf16.",  "32.u16 ",
                                       "32.s16 ", "32.b16 ", "32.f16 ", "32.bf16 "};
    if (strncmp(statement, "testp.", 6) == 0)
        return 1;
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        if (strncmp(statement, "set.", 4) == 0 && strstr(statement, lost[i]))
            return 1;
    return 0;
}

static void emit(struct generator *g, const char *pattern)
{
    struct expansion x;
    memset(&x, 0, sizeof x);
    x.g = g;
    int single_instruction = !strchr(pattern, ';');
    expand(&x, pattern, strlen(pattern));
    const char *guard = single_instruction && rng_percent(&g->rng, 15) ? predicate_guard(g) : "";
    if (guard_is_lost(x.text.data))
        guard = "";
    text_add(&g->body, "    %s%s%s\n", guard, x.text.data,
             x.text.data[x.text.size - 1] == '}' && !single_instruction ? "" : ";");
    for (int i = 0; i < x.destinations; i++)
        trace(g, x.destination_class[i], x.destination[i]);
    text_free(&x.text);
}

static void emit_from(struct generator *g, const struct group *group)
{
    unsigned count = 0;
    while (group->patterns[count])
        count++;
    emit(g, group->patterns[rng_below(&g->rng, count)]);
}

void pattern_statement(struct generator *g)
{
    unsigned total = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        total += groups[i].weight;
    unsigned at = rng_below(&g->rng, total);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (at < groups[i].weight) {
            emit_from(g, &groups[i]);
            return;
        }
        at -= groups[i].weight;
    }
}

void pattern_of_group(struct generator *g, const char *name)
{
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (strcmp(groups[i].name, name) == 0)
            emit_from(g, &groups[i]);
}
